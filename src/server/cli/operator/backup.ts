import type { Command } from 'commander'
import { resolve } from 'node:path'
import { openStorage } from '../../main/storage.ts'
import type { Transaction } from '../../store/base/open.ts'
import { monthsOfLedger, readTable, sequencesOf, tablesOf } from '../../store/lifecycle/table-copies.ts'
import { noteBackupEnd } from '../../store/nodes/installation.ts'
import { VERSION } from '../../supervisor/version.ts'
import { withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { BACKUP_ROOT_KEYS, BackupWriter, tablePath, type Manifest } from './backup-folder.ts'
import { backUpContainers, backUpObject, backUpObjects } from './backup-objects.ts'
import { restore } from './restore.ts'
import { noteBackup } from '../vault/root-key-copies.ts'
import { ownRootKeys } from '../vault/root-keys.ts'
import { addVerb, loadGeneration, pasteable, print } from '../parts/verb.ts'

interface BackupOptions {
  readonly json?: boolean
  readonly withoutRootKey?: boolean
}

/** `backup` and `restore`. */
export function addTo(program: Command): void {
  addVerb(program, 'backup', 'copy everything into a new folder, also while the node runs')
    .argument('<folder>', 'new or empty folder')
    .option(
      '--without-root-key',
      'do not include the root keys: encrypted files and secrets cannot be decrypted without them',
    )
    .action((folder: string, options: BackupOptions) =>
      withDatabase(async (database) => {
        await backUp(database, resolve(folder), options)
        // The backup is complete, also where its age cannot be recorded for the metrics.
        await noteBackupEnd(database.store.sql).catch(() => undefined)
      }),
    )
  addVerb(program, 'restore', 'restore a backup into an empty installation')
    .argument('<folder>', 'folder written by `sluice backup`')
    .action((folder: string, options: { json?: boolean }) => restore(resolve(folder), options))
}

async function backUp({ store }: DatabaseHandle, folder: string, options: BackupOptions): Promise<void> {
  const { config } = loadGeneration()
  const keys = options.withoutRootKey === true ? null : ownRootKeys()
  const to = new BackupWriter(folder)
  const storage = config.objects.kind === 'disk' ? await openStorage(config) : null
  // Objects never change: those copied before the rows belong to the rows. Objects added since then are
  // copied afterwards.
  const copied = storage === null ? null : await backUpObjects(storage, to)
  const containers = storage === null ? null : await backUpContainers(storage, to)
  const rows = await store.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', (tx) =>
    backUpTables(tx, to),
  )
  const missing: string[] = []
  for (const id of copied === null ? [] : rows.files) {
    if (copied?.has(id) === true) continue
    if (storage !== null && (await backUpObject(storage, id, to))) copied?.add(id)
    else missing.push(id)
  }
  await storage?.close()
  if (keys !== null)
    await to.add(BACKUP_ROOT_KEYS, [
      Buffer.from(keys.ids.map((id) => `${id}:${keys.get(id)?.toString('base64') ?? ''}\n`).join('')),
    ])
  to.end({
    ...rows.manifest,
    sluice: VERSION,
    made_at: new Date().toISOString(),
    objects: copied?.size ?? null,
    container_files: containers?.files ?? null,
    missing_objects: missing,
    has_root_keys: keys !== null,
  })
  const isNoted = keys === null || noteBackup(folder, keys, config)
  const result = {
    folder,
    files: to.files,
    bytes: to.bytes,
    objects: copied?.size ?? null,
    missing_objects: missing,
    has_root_keys: keys !== null,
  }
  print(
    options,
    result,
    [
      `${to.files} files, ${to.bytes} bytes in ${folder}`,
      ...(storage === null
        ? ['stored files are in a bucket, not in the backup: keep the bucket while you keep this folder']
        : []),
      ...(missing.length === 0
        ? []
        : [
            `${missing.length} files were deleted while the backup ran: the backup has their records but not their content`,
          ]),
      ...(containers === null || containers.torn === 0
        ? []
        : [`${containers.torn} container files changed while they were copied`]),
      keys === null
        ? `root keys are not included: keep ${rows.manifest.root_key_ids.join(', ')} elsewhere`
        : 'WARNING: this folder contains the root keys, which decrypt everything in it (exclude them with --without-root-key)',
      ...(isNoted
        ? []
        : [
            `the backup of the root keys could not be recorded in ${config.dataDir}: ` +
              pasteable(`\`sluice doctor\` asks you to record it (\`sluice vault confirm-root ${folder}\`)`),
          ]),
      'the backup does not include settings, the catalogue, first-keys.json or the data in Redis',
    ].join('\n'),
  )
}

type OfDatabase = Pick<Manifest, 'migrations' | 'tables' | 'sequences' | 'ledger_months' | 'root_key_ids'>

/** Writes all tables at one moment. */
async function backUpTables(
  tx: Transaction,
  to: BackupWriter,
): Promise<{ readonly manifest: OfDatabase; readonly files: readonly string[] }> {
  await tx.unsafe('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
  const tables = await tablesOf(tx)
  const sequences = await sequencesOf(tx)
  const files = await tx<
    { id: string }[]
  >`SELECT id FROM files WHERE state = 'ready' UNION ALL SELECT object_id FROM video_clips`
  const rootKeys = await tx<
    { id: string }[]
  >`SELECT root_key_id AS id FROM data_keys UNION SELECT root_key_id FROM vault_keys ORDER BY id`
  const months = await monthsOfLedger(tx)
  const migrations = await tx<{ name: string }[]>`SELECT name FROM schema_migrations ORDER BY number`
  for (const table of tables) await to.add(tablePath(table.name), readTable(tx, table))
  return {
    manifest: {
      migrations: migrations.map(({ name }) => name),
      tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
      sequences: sequences.map(({ name, value, isCalled }) => ({ name, value, is_called: isCalled })),
      ledger_months: [...months],
      root_key_ids: rootKeys.map(({ id }) => id),
    },
    files: files.map(({ id }) => id),
  }
}
