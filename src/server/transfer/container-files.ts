import { endedBy } from '../../schemas/call-ended.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../schemas/limits.ts'
import type { Upload } from '../ports/byte-streams.ts'
import type { IntakeSession, IntakeVerdict } from '../ports/intake.ts'
import type { Staging, StoredObject } from '../ports/storage.ts'
import type { ContainerPath, Stored, StoreWish, WrittenFile } from '../ports/transfer.ts'
import { copy } from './copy.ts'
import { FileWriting } from './file-writing.ts'
import type { TransferParts } from './parts.ts'
import { receive, UNLIMITED } from './receive.ts'

/** Writes a container file, plain and whatever its content: the sandbox reads it as it is. C22. */
export async function writeContainerFile(
  parts: TransferParts, upload: Upload, to: ContainerPath, signal: AbortSignal,
): Promise<Outcome<WrittenFile>> {
  const staged = await parts.storage.stage(upload.bytesAtMost ?? FILE_BYTES_MAX)
  if (!staged.ok) return staged
  try {
    const received = await receivePlain(parts, upload, { path: staged.value.path, holder: to.container.workspaceId })
    if (!received.ok) return received
    if (signal.aborted) return { ok: false, failure: endedBy(signal) }
    return await publish(parts, staged.value, { to, sizeBytes: received.value.sizeBytes, signal })
  } finally {
    await staged.value.discard()
  }
}

interface Publishing {
  readonly to: ContainerPath
  readonly sizeBytes: number
  readonly signal: AbortSignal
}

/**
 * The use comes before the file, so that a sweep keeps the container that is written to. One that had looked before
 * moves it back when it finds what is new; a file that is gone all the same was not written, and its caller is told.
 */
async function publish(
  { storage: { containers }, uses }: TransferParts, staging: Staging, { to, sizeBytes, signal }: Publishing,
): Promise<Outcome<WrittenFile>> {
  const { container, path } = to
  const used = await uses.touch(container.workspaceId, container.containerId)
  if (!used.ok) return used
  const published = await containers.publish(container, path, staging, signal)
  if (!published.ok) return published
  const there = await containers.stat(container, path)
  if (!there.ok && there.failure.name === 'container_file_unknown') return fail('storage_unavailable', { retryAfterS: 1 })
  // It is published, whatever becomes of a second look; what is there by now may be another's.
  return ok({ path, sizeBytes, changedAt: there.ok ? there.value.changedAt : new Date() })
}

async function receivePlain(
  { intake }: TransferParts, upload: Upload, { path, holder }: { readonly path: string; readonly holder: string },
): Promise<Outcome<IntakeVerdict>> {
  const session = intake.open({ holder, target: { path, seal: null }, content: 'any', bytesMax: FILE_BYTES_MAX })
  if (!session.ok) return session
  try {
    const received = await receive(upload, session.value, UNLIMITED)
    return received.ok ? ok(received.value.verdict) : received
  } finally {
    await session.value.cancel()
  }
}

/**
 * Copies a container file into a file of its own. A repetition under its `Idempotency-Key` gets the first answer,
 * whatever became of the container file since. §4.8, C16.
 */
export async function promote(parts: TransferParts, from: ContainerPath, wish: StoreWish): Promise<Outcome<Stored>> {
  const opened = await parts.storage.containers.open(from.container, from.path, wish.signal)
  try {
    return await promoteOpened(parts, opened, { from, wish })
  } finally {
    if (opened.ok) await opened.value.close()
  }
}

interface Promotion {
  readonly from: ContainerPath
  readonly wish: StoreWish
}

async function promoteOpened(parts: TransferParts, opened: Outcome<StoredObject>, { from, wish }: Promotion): Promise<Outcome<Stored>> {
  const source = promotable(opened)
  const { workspaceId, idempotency, signal } = wish
  if (!source.ok && idempotency === null) return source
  const reserveBytes = source.ok ? source.value.sizeBytes : 0
  const begun = await parts.files.begin({ workspaceId, reserveBytes, idempotency, signal })
  if (!begun.ok) return begun
  if (begun.value.kind === 'replay') return ok({ file: begun.value.file, isReplay: true })
  const row = begun.value.upload
  if (!source.ok) {
    await parts.files.abandon(row, false)
    return source
  }
  const object = source.value
  const stored = await new FileWriting(parts, row, signal).run({
    content: 'type',
    bytesAtMost: object.sizeBytes,
    async fill(session) {
      const verdict = await copyWhole(object, session, signal)
      return verdict.ok ? ok({ filename: from.path, purpose: null, isDownloadable: true, verdict: verdict.value }) : verdict
    },
  })
  return stored.ok ? ok({ file: stored.value, isReplay: false }) : stored
}

/** The sandbox may write the file while it is copied: half of each content is worth nothing. Failures: those of `copy`. */
async function copyWhole(object: StoredObject, session: IntakeSession, signal: AbortSignal): Promise<Outcome<IntakeVerdict>> {
  const verdict = await copy(object.read(0, object.sizeBytes, { signal }), session, signal)
  // One that is shorter by now looks damaged.
  if (!verdict.ok && verdict.failure.name !== 'content_damaged') return verdict
  const unchanged = await object.isUnchanged()
  if (!unchanged.ok) return unchanged
  if (unchanged.value) return verdict
  return fail('storage_unavailable', { retryAfterS: 1, cause: new Error('the container file was written to while it was copied') })
}

/** Stored files are never empty and have one size limit, wherever they come from. §8 */
function promotable(opened: Outcome<StoredObject>): Outcome<StoredObject> {
  if (!opened.ok) return opened
  if (opened.value.sizeBytes === 0) return fail('file_empty')
  return opened.value.sizeBytes > FILE_BYTES_MAX ? fail('file_too_large', { fields: { limit: FILE_BYTES_MAX } }) : opened
}
