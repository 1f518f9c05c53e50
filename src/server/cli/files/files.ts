import { InvalidArgumentError, type Command } from 'commander'
import { existsSync } from 'node:fs'
import { fail, textOf } from '../../../schemas/failures.ts'
import { isFileId } from '../../../schemas/files/files.ts'
import type { FilePage, FileRecord } from '../../ports/files/files.ts'
import type { Storage } from '../../ports/files/storage.ts'
import { openStorage } from '../../main/storage.ts'
import { sweepDeps } from '../../main/sweep.ts'
import { sweep, type SweepReport } from '../../runner/sweep.ts'
import { openFileSweep } from '../../store/files/file-sweep.ts'
import { openFiles } from '../../store/files/files.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { escapeControlsInJson } from '../parts/terminal-text.ts'
import { rootRing } from '../vault/root-keys.ts'
import { addVerb, CliFailure, countOf, loadGeneration, print, table } from '../parts/verb.ts'
import { verifyFiles, type Finding } from './verify-files.ts'

interface ListOptions extends PlaceOptions {
  readonly limit?: number
  readonly after?: string
}

const PAGE = 1_000

/** `files list|rm|verify` and `sweep`. */
export function addTo(program: Command): void {
  const group = program.command('files').description('manage stored files')
  addVerb(group, 'list', 'list the files of a workspace, oldest first')
    .option('--workspace <ref>', 'workspace id or slug; default: the default workspace')
    .option('--limit <count>', 'maximum number of files; default: all', countOf)
    .option('--after <id>', 'start after the file with this id')
    .action((options: ListOptions) => withDatabase((database) => list(database, options)))
  addVerb(group, 'rm', 'delete files and free their quota')
    .argument('<id...>', 'ids of the files to delete')
    .option('--workspace <ref>', 'workspace id or slug; default: the default workspace')
    .action((ids: readonly string[], options: PlaceOptions) =>
      withDatabase((database) => remove(database, ids, options)),
    )
  addVerb(
    group,
    'verify',
    'read every stored file, verify its encryption, size and SHA-256, and report objects without a record and records without an object',
  ).action((options: { json?: boolean }) => withDatabase((database) => verify(database, options)))
  addVerb(program, 'sweep', 'delete expired and orphaned objects, as the node does every few minutes')
    .option(
      '--min-age <seconds>',
      'keep objects without a record that are younger than this many seconds; default: one hour',
      secondsOf,
    )
    .action((options: { json?: boolean; minAge?: number }) =>
      withDatabase((database) => sweepNow(database, options)),
    )
}

async function list(database: DatabaseHandle, options: ListOptions): Promise<void> {
  const { store } = database
  const { after = null, limit = Infinity } = options
  if (after !== null && !isFileId(after)) throw new CliFailure('--after must be the id of a file')
  const workspace = await workspaceOf(database, options.workspace)
  const files = openFiles({ store, now: () => performance.now(), random: Math.random })
  const data: FileRecord[] = []
  let hasMore = true
  try {
    while (hasMore && data.length < limit) {
      const page: FilePage = need(
        await files.list(workspace.id, {
          after: data.at(-1)?.id ?? after,
          limit: Math.min(PAGE, limit - data.length),
        }),
      )
      data.push(...page.files)
      hasMore = page.hasMore
    }
    const rows = data.map((file) => [
      file.id,
      String(file.sizeBytes),
      file.mimeType,
      file.createdAt.toISOString(),
      escapeControlsInJson(file.filename),
    ])
    const usage = need(await files.usage(workspace.id))
    const answer = {
      data,
      has_more: hasMore,
      used_bytes: usage.usedBytes,
      reserved_bytes: usage.reservedBytes,
      quota_bytes: usage.quotaBytes,
    }
    const more = hasMore ? `there are more files: continue with --after ${data.at(-1)?.id ?? ''}\n` : ''
    const foot = `${more}${usage.usedBytes} of ${usage.quotaBytes} bytes used, ${usage.reservedBytes} reserved`
    print(options, answer, `${table([['ID', 'BYTES', 'TYPE', 'CREATED', 'NAME'], ...rows])}\n${foot}`)
  } finally {
    files.close()
  }
}

/** Removes the row first, then the bytes: the sweep finds leftover bytes. A failed id does not affect the others. */
async function remove(
  database: DatabaseHandle,
  ids: readonly string[],
  options: PlaceOptions,
): Promise<void> {
  const { store } = database
  const workspace = await workspaceOf(database, options.workspace)
  const files = openFiles({ store, now: () => performance.now(), random: Math.random })
  const storage = await openOwnStorage()
  try {
    const removed: string[] = []
    const missing: string[] = []
    const problems: string[] = []
    const lines: string[] = []
    for (const id of new Set(ids)) {
      const row = isFileId(id) ? await files.remove(workspace.id, id) : fail('file_unknown')
      const isMissing = !row.ok && row.failure.name === 'file_unknown'
      if (row.ok) removed.push(id)
      if (isMissing) missing.push(id)
      const bytes = row.ok ? await storage.remove(id) : row
      if (!bytes.ok) problems.push(`${escapeControlsInJson(id)}: ${textOf(bytes.failure)}`)
      lines.push(
        row.ok ? `${id} removed` : `${escapeControlsInJson(id)} ${isMissing ? 'is missing' : 'failed'}`,
      )
    }
    print(options, { removed, missing }, lines.join('\n'))
    if (problems.length > 0) throw new CliFailure(problems.join('\n'))
  } finally {
    files.close()
    await storage.close()
  }
}

async function verify({ store }: DatabaseHandle, options: { json?: boolean }): Promise<void> {
  const storage = await openOwnStorage()
  try {
    const { checked, findings } = need(
      await verifyFiles({ rows: openFileSweep(store), storage, keyRing: rootRing(store) }),
    )
    const rows = findings.map((finding: Finding) => [finding.problem, finding.id, finding.detail])
    const text = `${checked} files verified, ${findings.length} problems`
    print(
      options,
      { checked, findings },
      rows.length === 0 ? text : `${table([['PROBLEM', 'ID', 'DETAIL'], ...rows])}\n${text}`,
    )
    if (findings.length > 0) throw new CliFailure(text)
  } finally {
    await storage.close()
  }
}

async function sweepNow(
  { store }: DatabaseHandle,
  options: { json?: boolean; minAge?: number },
): Promise<void> {
  const { config } = loadGeneration()
  const storage = await openOwnStorage(config)
  try {
    const age = options.minAge === undefined ? {} : { orphanAgeMs: options.minAge * 1_000 }
    // A person who sweeps by hand may have removed objects by hand.
    const { report, failures } = await sweep(sweepDeps(config, { store, storage }), {
      ...age,
      recountAgeMs: 0,
    })
    print(options, report, reportText(report))
    const [first] = failures
    if (first !== undefined) throw new CliFailure(`a sweep step failed: ${textOf(first)}`)
  } finally {
    await storage.close()
  }
}

/**
 * Opens the storage of the node. A typing error in its place would create a new, empty storage, and rows
 * would be removed without their bytes.
 */
function openOwnStorage(config = loadGeneration().config): Promise<Storage> {
  if (config.objects.kind === 'disk' && !existsSync(config.objects.folder)) {
    throw new CliFailure(
      `there is no folder ${config.objects.folder}: set SLUICE_OBJECTS or SLUICE_DATA to the value that the node uses`,
    )
  }
  return openStorage(config)
}

function reportText(report: SweepReport): string {
  return table(Object.entries(report).map(([what, count]) => [what.replace('_', ' '), String(count)]))
}

function secondsOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of seconds.')
  return Number(text)
}
