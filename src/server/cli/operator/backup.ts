import { pipeline } from 'node:stream/promises'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { resolve, join } from 'node:path'
import { openStorage, objectsPlace } from '../../main/storage.ts'
import { type Transaction, openStore, type Store } from '../../store/base/open.ts'
import {
  monthsOfLedger,
  readTable,
  sequencesOf,
  tablesOf,
  inOrderOfReference,
  isEmptyDatabase,
  makeReady,
  setSequences,
  writeTable,
} from '../../store/lifecycle/table-copies.ts'
import { noteBackupEnd } from '../../store/nodes/installation.ts'
import { VERSION } from '../../supervisor/version.ts'
import { withDatabase, type DatabaseHandle, need } from '../parts/database.ts'
import {
  BACKUP_ROOT_KEYS,
  BackupWriter,
  tablePath,
  type Manifest,
  openBackup,
  type Backup,
} from './backup-folder.ts'
import { backUpContainers, backUpObject, backUpObjects, restoreObjects } from './backup-objects.ts'
import { noteBackup } from '../vault/root-key-copies.ts'
import { ownRootKeys } from '../vault/root-keys.ts'
import { addVerb, loadGeneration, pasteable, print, CliFailure } from '../parts/verb.ts'
import type { Config } from '../../config.ts'
import { checkLedger } from '../../store/money/repair/check.ts'
import { closeNode, type ClosedNode } from '../../store/money/repair/close-node.ts'
import type { Storage } from '../../ports/files/storage.ts'
import { verifyAudit } from '../../store/audit/audit-log.ts'
import { openLender } from '../../store/money/lender.ts'
import { migrate, MIGRATIONS } from '../../store/migrations/migrate.ts'
import {
  openDataDirectory,
  runningSupervisor,
  whatHas,
} from '../../supervisor/data-directory/data-directory.ts'
import { hasCluster } from '../../supervisor/postgres/postgres-cluster.ts'
import { makeKeyFile } from '../../vault/root-key-file.ts'
import { ROOT_KEY_FILE } from '../../vault/root-keys.ts'
import { stderrLog } from '../parts/stderr-log.ts'
import { VERB_CONNECT_S_MAX, withStores } from '../parts/stores.ts'
import { usdText } from '../../../schemas/money/costs.ts'

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
        // The backup is complete even if its time cannot be recorded for the metrics.
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
  // Objects never change, so that those copied before the rows still match the rows. Objects added since then
  // are copied afterwards.
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

/**
 * Restores a backup into an empty installation and checks the result. The verb reads every byte of the backup
 * before it changes anything. Callers see no change before the last step, which is one transaction. Throws
 * CliFailure.
 */
async function restore(folder: string, options: { readonly json?: boolean }): Promise<void> {
  const { config } = loadGeneration()
  mustBeEmpty(config)
  const backup = await openBackup(folder)
  mustBeKnown(backup)
  // With a DATABASE_URL of the operator, no other step creates the data directory.
  if (config.databaseUrl !== null)
    (await openDataDirectory(config.dataDir, stderrLog, { isVerb: true })).release()
  await withStores(
    async ({ databaseUrl }) => {
      const store = openStore({
        url: databaseUrl.reveal(),
        poolMax: 2,
        applicationName: 'sluice-restore',
        connectSMax: VERB_CONNECT_S_MAX,
      })
      try {
        if (!(await isEmptyDatabase(store.sql)))
          throw new CliFailure('the database is not empty: set DATABASE_URL to an empty database')
        await bringUp(store, config, backup)
        await tell(store, backup, { ...options, ended: await endFronts(store) })
      } finally {
        await store.close()
      }
    },
    { mayCreate: true },
  )
}

/** Refuses an installation with data: a restore never mixes old and new data. Throws CliFailure. */
function mustBeEmpty({ dataDir, databaseUrl, objects }: Config): void {
  const another = 'set SLUICE_DATA to a directory that does not exist yet'
  const running = runningSupervisor(dataDir)
  if (running !== null) throw new CliFailure(`${whatHas(running)} ${dataDir}: ${another}`)
  if (databaseUrl === null && hasCluster(dataDir))
    throw new CliFailure(`${dataDir} already contains a database: ${another}`)
  if (existsSync(join(dataDir, ROOT_KEY_FILE)))
    throw new CliFailure(`${dataDir} already contains a root key: ${another}`)
  if (objects.kind === 'disk' && hasFiles(objects.folder))
    throw new CliFailure(`${objects.folder} is not empty: set SLUICE_OBJECTS to an empty folder`)
}

function hasFiles(folder: string): boolean {
  return (
    existsSync(folder) &&
    readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile())
  )
}

/** Throws CliFailure when a newer program, or one of another branch, wrote the backup. */
function mustBeKnown({ manifest: { migrations, sluice } }: Backup): void {
  const stranger = migrations.findIndex((name, nth) => MIGRATIONS[nth]?.name !== name)
  if (stranger === -1) return
  throw new CliFailure(
    `the backup was written by Sluice ${sluice} and has migration ${stranger + 1}, \`${migrations[stranger] ?? ''}\`, ` +
      'which this version does not know: use that version or a newer one',
  )
}

async function bringUp(store: Store, config: Config, backup: Backup): Promise<void> {
  const { folder, manifest } = backup
  const storage = manifest.objects === null ? null : await openStorage(config)
  try {
    if (storage !== null) await mustHoldNothing(storage, config)
    if (manifest.has_root_keys && config.rootKey === null && config.rootKeyFile === null) {
      makeKeyFile(join(config.dataDir, ROOT_KEY_FILE), readFileSync(join(folder, BACKUP_ROOT_KEYS), 'utf8'))
      noteBackup(folder, ownRootKeys(), config)
    }
    if (storage !== null) await restoreObjects(storage, backup)
  } finally {
    await storage?.close()
  }
  // First the schema that the rows were written with, then the migrations that this version adds.
  await migrate(store.options.url, stderrLog, {
    migrations: MIGRATIONS.slice(0, manifest.migrations.length),
    connectSMax: VERB_CONNECT_S_MAX,
  })
  await store.sql.begin((tx) => fill(tx, backup))
  await migrate(store.options.url, stderrLog, { connectSMax: VERB_CONNECT_S_MAX })
}

/**
 * Refuses a bucket that is not empty or that another installation uses: the sweep of this installation would
 * remove its objects. Throws CliFailure.
 */
async function mustHoldNothing(storage: Storage, config: Config): Promise<void> {
  if (config.objects.kind === 'disk') return
  const [{ objects, cursor }, { containers }] = [
    need(await storage.list(null)),
    need(await storage.containers.listContainers(null)),
  ]
  // The embedded database already exists, though empty, and would make the next restore fail.
  const data = config.databaseUrl === null ? ', and SLUICE_DATA to a directory that does not exist yet' : ''
  const cure = `set SLUICE_OBJECTS to an empty folder or bucket prefix${data}`
  const { place, markAt, mark } = await objectsPlace(config)
  // A first page may contain only names that are not Sluice's.
  if (objects.length + containers.length > 0 || cursor !== null)
    throw new CliFailure(`${place} is not empty: ${cure}`)
  // A mark that cannot be read is not checked here: the next start of a node writes it.
  if ((await mark.read().catch(() => null)) === null) return
  throw new CliFailure(
    `${place} belongs to another installation: ${cure}; if no installation uses it any more, delete its id file ${markAt}`,
  )
}

async function fill(tx: Transaction, { folder, manifest }: Backup): Promise<void> {
  await tx.unsafe('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
  // Triggers that keep sums read this setting: the sums of a backup already include its rows.
  await tx`SELECT set_config('sluice.is_restoring', 'on', true)`
  const tables = await inOrderOfReference(tx, manifest.tables)
  await makeReady(tx, tables, manifest.ledger_months)
  for (const table of tables)
    await pipeline(createReadStream(join(folder, tablePath(table.name))), await writeTable(tx, table))
  await setSequences(
    tx,
    manifest.sequences.map(({ name, value, is_called: isCalled }) => ({ name, value, isCalled })),
  )
}

/** Closes the fronts that ran at the time of the backup: none of them belongs to this installation, so that none would return its money. */
async function endFronts(store: Store): Promise<ClosedNode> {
  const nodes = await store.sql<
    { node: string }[]
  >`SELECT DISTINCT node FROM journals WHERE state = 'open' ORDER BY node`
  const lender = openLender(store, { log: stderrLog })
  let all: ClosedNode = { journals: 0, forfeits: 0, forfeitedNano: 0n, returnedNano: 0n }
  for (const { node } of nodes) {
    const one = need(
      await closeNode({ store, lender }, node, { actor: { kind: 'system', id: null }, requestId: null }),
    )
    all = {
      journals: all.journals + one.journals,
      forfeits: all.forfeits + one.forfeits,
      forfeitedNano: all.forfeitedNano + one.forfeitedNano,
      returnedNano: all.returnedNano + one.returnedNano,
    }
  }
  return all
}

interface TellOptions {
  readonly json?: boolean
  readonly ended: ClosedNode
}

async function tell(store: Store, { manifest }: Backup, options: TellOptions): Promise<void> {
  const ledger = need(await checkLedger(store))
  const audit = need(await verifyAudit(store, null))
  const keys = missingKeys(manifest.root_key_ids)
  const [videos] = await store.sql<
    { open: number }[]
  >`SELECT count(*)::int AS open FROM video_jobs WHERE ended_at IS NULL`
  const open = videos?.open ?? 0
  const { ended } = options
  const isWell = ledger.count === 0 && audit.faults.length === 0
  const result = {
    made_at: manifest.made_at,
    tables: manifest.tables.length,
    objects: manifest.objects,
    container_files: manifest.container_files,
    ledger_differences: ledger.count,
    audit_faults: audit.faults.length,
    closed_journals: ended.journals,
    open_video_jobs: open,
    forfeited_nano_usd: String(ended.forfeitedNano),
    missing_root_key_ids: keys,
  }
  print(
    options,
    result,
    [
      `restored the backup of ${manifest.made_at}: ${manifest.tables.length} tables, ${manifest.objects ?? 0} objects, ` +
        `${manifest.container_files ?? 0} container files`,
      `${ledger.count} differences in the ledger of ${ledger.sums.rows} rows, ${audit.faults.length} broken chains in ${audit.checked} audit events`,
      ...(manifest.objects === null
        ? ['stored files are not in the backup: set SLUICE_OBJECTS to their bucket']
        : []),
      ...(ended.journals === 0
        ? []
        : [
            `${usdText(ended.forfeitedNano)} USD that ${ended.journals} fronts had reserved at the time of the backup are now forfeits: ` +
              pasteable('`sluice ledger forgive` releases them'),
          ]),
      ...(open === 0
        ? []
        : [
            `${open} video jobs were open at the time of the backup and continue; steps that the old installation took since then are repeated`,
          ]),
      ...(keys.length === 0
        ? []
        : [`missing root keys: ${keys.join(', ')}; data encrypted with these keys cannot be decrypted`]),
    ].join('\n'),
  )
  if (!isWell)
    throw new CliFailure(
      'the restored ledger or audit log has errors: run `sluice ledger check` and `sluice audit verify`',
    )
}

function missingKeys(needed: readonly string[]): readonly string[] {
  if (needed.length === 0) return []
  try {
    const { ids } = ownRootKeys()
    return needed.filter((id) => !ids.includes(id))
  } catch (problem) {
    // If no root key can be read, all needed keys are missing.
    if (problem instanceof CliFailure) return needed
    throw problem
  }
}
