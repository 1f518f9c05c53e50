import { createHash } from 'node:crypto'
import { fail, ok, textOf, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { HEADER_BYTES } from '../../../workers/seal/format.ts'
import { createOpener } from '../../../workers/seal/opener.ts'
import { openRange } from '../../../workers/seal/range-opener.ts'
import type { FileSweep, SealedObject } from '../../ports/files/files.ts'
import type { KeyRing } from '../../ports/vault/key-ring.ts'
import type { Storage, StoredObject } from '../../ports/files/storage.ts'

export interface VerifyDeps {
  readonly rows: FileSweep
  readonly storage: Storage
  readonly keyRing: KeyRing
}

export interface Finding {
  /**
   * `missing`: a row without its object; `orphan`: an object without a row; `damaged`: other content than was
   * stored; `unreadable`: storage, or the data key, refuses only this object.
   */
  readonly problem: 'missing' | 'damaged' | 'orphan' | 'unreadable'
  /** Id of the object, which the file has too. */
  readonly id: string
  readonly detail: string
}

export interface Verification {
  readonly checked: number
  readonly findings: readonly Finding[]
}

const PAGE = 500
/** Id that no object has. */
const PROBE_ID = 'verify_probe'

/**
 * Reads every object of every ready file and every clip and compares it with its row, then looks for objects
 * without a row. Failures: store_unavailable, storage_unavailable.
 */
export async function verifyFiles(deps: VerifyDeps): Promise<Outcome<Verification>> {
  const { rows } = deps
  const files = await verifyAll(deps, (after) => rows.page(after, PAGE))
  if (!files.ok) return files
  const clips = await verifyAll(deps, (after) => rows.clips(after, PAGE))
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
    if (page.value.length < PAGE) return ok({ checked, findings })
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

/** The finding of an unreadable object. Where storage answers nothing at all, the failure ends the verification. */
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
      // A deletion removes the row first: this second look shows whether the bytes are still there.
      const there = await storage.stat(id)
      if (!there.ok) return there
      if (there.value !== null)
        findings.push({ problem: 'orphan', id, detail: `${bytes.get(id) ?? 0} bytes without a record` })
    }
    cursor = page.value.cursor
    if (cursor === null) return ok(findings)
  }
}
