import { createHash } from 'node:crypto'
import { InvalidArgumentError, type Command } from 'commander'
import { existsSync } from 'node:fs'
import { fail, textOf, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { isFileId } from '../../../schemas/files/files.ts'
import type { FilePage, FileRecord, FileSweep, SealedObject } from '../../ports/files/files.ts'
import type { Storage, StoredObject } from '../../ports/files/storage.ts'
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
import { HEADER_BYTES } from '../../../workers/seal/format.ts'
import { createOpener } from '../../../workers/seal/opener.ts'
import { openRange } from '../../../workers/seal/range-opener.ts'
import type { KeyRing } from '../../ports/vault/key-ring.ts'

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
    // Objects may also have been removed manually, since this sweep is started manually.
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
 * Opens the storage of the node. With a mistyped location, a new, empty storage would be created, and rows
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

interface VerifyDeps {
  readonly rows: FileSweep
  readonly storage: Storage
  readonly keyRing: KeyRing
}

interface Finding {
  /**
   * `missing`: a row without its object; `orphan`: an object without a row; `damaged`: content that differs
   * from the stored one; `unreadable`: only this object cannot be read or decrypted.
   */
  readonly problem: 'missing' | 'damaged' | 'orphan' | 'unreadable'
  /** Id of the object, equal to that of the file. */
  readonly id: string
  readonly detail: string
}

interface Verification {
  readonly checked: number
  readonly findings: readonly Finding[]
}

const VERIFIED_PAGE = 500
/** An id that no object has, to test whether storage answers at all. */
const PROBE_ID = 'verify_probe'

/**
 * Reads every object of every ready file and every clip and compares it with its row, then looks for objects
 * without a row. Failures: store_unavailable, storage_unavailable.
 */
async function verifyFiles(deps: VerifyDeps): Promise<Outcome<Verification>> {
  const { rows } = deps
  const files = await verifyAll(deps, (after) => rows.page(after, VERIFIED_PAGE))
  if (!files.ok) return files
  const clips = await verifyAll(deps, (after) => rows.clips(after, VERIFIED_PAGE))
  if (!clips.ok) return clips
  const orphans = await findOrphans(deps)
  if (!orphans.ok) return orphans
  return ok({
    checked: files.value.checked + clips.value.checked,
    findings: [...files.value.findings, ...clips.value.findings, ...orphans.value],
  })
}

type NextPage = (after: string | null) => Promise<Outcome<readonly SealedObject[]>>

async function verifyAll(deps: VerifyDeps, next: NextPage): Promise<Outcome<Verification>> {
  const findings: Finding[] = []
  let checked = 0
  for (let after: string | null = null; ;) {
    const page = await next(after)
    if (!page.ok) return page
    for (const object of page.value) {
      const verified = await verifyObject(deps, object)
      if (!verified.ok) return verified
      if (verified.value !== null) findings.push(verified.value)
      checked++
    }
    if (page.value.length < VERIFIED_PAGE) return ok({ checked, findings })
    after = page.value.at(-1)?.id ?? null
  }
}

async function verifyObject(
  { rows, storage, keyRing }: VerifyDeps,
  file: SealedObject,
): Promise<Outcome<Finding | null>> {
  const opened = await storage.open(file.id)
  if (!opened.ok) {
    if (opened.failure.name !== 'content_missing') return unreadable(storage, file, opened.failure)
    // The file may have been deleted since the page was read.
    const isGone = await rows.withoutRow([file.id])
    if (!isGone.ok || isGone.value.length > 0) return isGone.ok ? ok(null) : isGone
    return ok({ problem: 'missing', id: file.id, detail: 'the object is missing' })
  }
  try {
    const key = await keyRing.byId(file.workspaceId, 'files', file.dataKeyId)
    if (!key.ok)
      return key.failure.name === 'data_key_unavailable' ? await unreadable(storage, file, key.failure) : key
    const sha256 = await digestOf(opened.value, file, key.value.key)
    key.value.key.fill(0)
    if (!sha256.ok && sha256.failure.name !== 'content_damaged')
      return await unreadable(storage, file, sha256.failure)
    if (!sha256.ok) return ok({ problem: 'damaged', id: file.id, detail: detailOf(sha256.failure) })
    return ok(
      sha256.value === file.sha256
        ? null
        : { problem: 'damaged', id: file.id, detail: 'the SHA-256 of the object differs from its record' },
    )
  } finally {
    await opened.value.close()
  }
}

/** The finding for an unreadable object. If storage does not answer at all, the failure ends the verification. */
async function unreadable(
  storage: Storage,
  { id }: SealedObject,
  failure: Failure,
): Promise<Outcome<Finding>> {
  const answers = await storage.stat(PROBE_ID)
  return answers.ok ? ok({ problem: 'unreadable', id, detail: detailOf(failure) }) : answers
}

function detailOf(failure: Failure): string {
  return failure.cause instanceof Error ? failure.cause.message : textOf(failure)
}

/** SHA-256 of the plain bytes, all of them verified. Failures: content_damaged, storage_unavailable. */
async function digestOf(
  object: StoredObject,
  file: SealedObject,
  dataKey: Uint8Array,
): Promise<Outcome<string>> {
  if (object.sizeBytes < HEADER_BYTES)
    return fail('content_damaged', { cause: new Error('the object is shorter than its header') })
  const header = await headerOf(object)
  if (!header.ok) return header
  const { id: objectId, dataKeyId, sizeBytes } = file
  const opener = createOpener({
    dataKey,
    dataKeyId,
    objectId,
    sizeBytes,
    objectBytes: object.sizeBytes,
    header: header.value,
  })
  if (!opener.ok) return opener
  const range = openRange(opener.value, 0, sizeBytes)
  const reader = object.read(range.plan.from, range.plan.to)
  const hash = createHash('sha256')
  try {
    for (;;) {
      const piece = await reader.next()
      if (!piece.ok) return piece
      if (piece.value === null) break
      const plain = range.push(piece.value)
      if (!plain.ok) return plain
      for (const bytes of plain.value) hash.update(bytes)
    }
    return range.isComplete
      ? ok(hash.digest('hex'))
      : fail('content_damaged', { cause: new Error('the object is truncated') })
  } finally {
    reader.close()
    opener.value.discard()
  }
}

async function headerOf(object: StoredObject): Promise<Outcome<Uint8Array>> {
  const reader = object.read(0, HEADER_BYTES)
  try {
    const piece = await reader.next()
    return piece.ok ? ok(Uint8Array.from(piece.value ?? [])) : piece
  } finally {
    reader.close()
  }
}

async function findOrphans({ rows, storage }: VerifyDeps): Promise<Outcome<readonly Finding[]>> {
  const findings: Finding[] = []
  for (let cursor: string | null = null; ;) {
    const page = await storage.list(cursor)
    if (!page.ok) return page
    const bytes = new Map(page.value.objects.map(({ objectId, sizeBytes }) => [objectId, sizeBytes]))
    const orphans = await rows.withoutRow([...bytes.keys()])
    if (!orphans.ok) return orphans
    for (const id of orphans.value) {
      // A deletion removes the row before the bytes, so this checks again whether the bytes still exist.
      const there = await storage.stat(id)
      if (!there.ok) return there
      if (there.value !== null)
        findings.push({ problem: 'orphan', id, detail: `${bytes.get(id) ?? 0} bytes without a record` })
    }
    cursor = page.value.cursor
    if (cursor === null) return ok(findings)
  }
}
