import { fail, type FailureName, ok, type Outcome } from '../../schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../schemas/files/file-limits.ts'
import { expiresAfterOf } from '../../schemas/files/file-expiry.ts'
import { NAMELESS } from '../../schemas/files/filenames.ts'
import { purposeOf } from '../../schemas/files/files.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import type { FileRecord, PendingFile } from '../ports/files/files.ts'
import type {
  ContainerPath,
  OpenContainerFile,
  Stored,
  StoreInput,
  Transfers,
  WrittenFile,
} from '../ports/files/transfer.ts'
import type { ByteReader, Content, Upload } from '../ports/byte-streams.ts'
import type { Staging, StoredObject } from '../ports/files/storage.ts'
import type { PathClaim } from '../ports/containers/container-rows.ts'
import type { IntakeSession, IntakeVerdict } from '../ports/files/intake.ts'
import { digestOf, receive, type Received, type Reservation } from './receive.ts'
import { copy } from './copy.ts'
import { type TransferDeps, FileWriting, type Written } from './object-writing.ts'

export function createTransfers(deps: TransferDeps): Transfers {
  return {
    store: (upload, input) => storeFile(deps, upload, input),
    promote: (from, input) => promote(deps, from, input),
    writeContainerFile: (upload, to, signal) => writeContainerFile(deps, upload, to, signal),
    openFile: (file, signal) => openFile(deps, file, signal),
    openContainerFile: (from, signal) => openContainerFile(deps, from, signal),
    remove: (workspaceId, id) => remove(deps, workspaceId, id),
  }
}

/** Removes the row first: the sweep finds bytes that remain. Design §5. */
async function remove(
  { files, storage }: TransferDeps,
  workspaceId: string,
  id: string,
): Promise<Outcome<FileRecord>> {
  const removed = await files.remove(workspaceId, id)
  if (removed.ok) await storage.remove(id)
  return removed
}

/** A stored file, unsealed in a worker as it is read. */
export async function openFile(
  deps: TransferDeps,
  file: FileRecord,
  signal: AbortSignal,
): Promise<Outcome<Content>> {
  const { storage, keyRing, unsealing } = deps
  const object = await storage.open(file.id, signal)
  if (!object.ok) return object
  let lent: Promise<unknown> = Promise.resolve()
  const read = async (from: number, to: number): Promise<Outcome<ByteReader>> => {
    const dataKey = await keyRing.byId(file.workspaceId, 'files', file.dataKeyId)
    if (!dataKey.ok) return dataKey
    const onLent = (released: Promise<void>): void => void (lent = released)
    return unsealing.open({ file, object: object.value, dataKey: dataKey.value, from, to, signal, onLent })
  }
  return ok({
    sizeBytes: file.sizeBytes,
    etag: `sha256-${file.sha256}`,
    read,
    close: () => void lent.then(() => release(object.value)),
  })
}

/** A container file, as its sandbox wrote it. */
async function openContainerFile(
  { storage }: TransferDeps,
  from: ContainerPath,
  signal: AbortSignal,
): Promise<Outcome<OpenContainerFile>> {
  const opened = await storage.containers.open(from.container, from.path, signal)
  if (!opened.ok) return opened
  const object = opened.value
  const { sizeBytes, changedAt, version } = object
  const content: Content = {
    sizeBytes,
    etag: version,
    read: (start, to) => Promise.resolve(ok(object.read(start, to, { signal }))),
    close: () => release(object),
  }
  return ok({ content, file: { path: from.path, sizeBytes, changedAt, version } })
}

/** Closes without waiting: no caller needs the result, and nothing can be done if the system refuses. */
function release(object: StoredObject): void {
  object.close().catch(() => undefined)
}

/** Stores an upload, or compares it with the upload that was stored under the same `Idempotency-Key`. */
async function storeFile(deps: TransferDeps, upload: Upload, input: StoreInput): Promise<Outcome<Stored>> {
  const { workspaceId, idempotency, signal } = input
  const { bytesAtMost, slackBytes } = upload
  const begun = await deps.files.begin({
    workspaceId,
    reserveBytes: bytesAtMost ?? 0,
    slackBytes,
    idempotency,
    signal,
  })
  if (!begun.ok) return begun
  if (begun.value.kind === 'replay') return compare(deps, upload, begun.value.file)
  const row = begun.value.upload
  const reservation = reservationOf(deps, row, signal)
  const stored = await new FileWriting(deps, row, signal).run({
    content: 'refuse',
    bytesAtMost: bytesAtMost ?? FILE_BYTES_MAX,
    async fill(session) {
      const received = await receive(upload, session, reservation)
      return received.ok ? ok(writtenOf(received.value)) : received
    },
  })
  return stored.ok ? ok({ file: stored.value, isReplay: false }) : stored
}

/** The bytes that a row has reserved; they grow as more arrive. */
function reservationOf({ files }: TransferDeps, row: PendingFile, signal: AbortSignal): Reservation {
  return {
    get bytes() {
      return row.reservedBytes
    },
    extend: (bytes) => files.extend(row, bytes, signal),
  }
}

async function compare({ intake }: TransferDeps, upload: Upload, file: FileRecord): Promise<Outcome<Stored>> {
  const sha256 = await digestOf(intake, upload, file.workspaceId)
  if (!sha256.ok) return sha256
  return sha256.value === file.sha256 ? ok({ file, isReplay: true }) : fail('idempotency_mismatch')
}

function writtenOf({ filename, fields, verdict }: Received): Written {
  return {
    filename: filename ?? NAMELESS,
    purpose: purposeOf(fields),
    expiresAfterS: expiresAfterOf(fields),
    isDownloadable: false,
    verdict,
  }
}

/** Writes a container file unsealed and with any content: the sandbox reads the bytes as they are. */
async function writeContainerFile(
  deps: TransferDeps,
  upload: Upload,
  to: ContainerPath,
  signal: AbortSignal,
): Promise<Outcome<WrittenFile>> {
  const { workspaceId } = to.container
  // The folders of the path, and the folder of the container.
  const folders = to.path.split('/').length
  const begun = await deps.files.begin({
    workspaceId,
    reserveBytes: upload.bytesAtMost ?? 0,
    folders,
    idempotency: null,
    signal,
  })
  if (!begun.ok) return begun
  if (begun.value.kind !== 'new') throw new Error('a call without an Idempotency-Key cannot be a repeat')
  return new ContainerWriting(deps, begun.value.upload, { to, signal }).run(upload)
}

interface Target {
  readonly to: ContainerPath
  readonly signal: AbortSignal
}

/** Failures after which certainly no file was published. */
const NOTHING_PUBLISHED = new Set<FailureName>([
  'container_path_invalid',
  'containers_unsupported',
  'storage_full',
])

/**
 * Turns a reservation into a container file: the bytes are staged, the path is claimed, the file is published
 * and counted. The claim counts as a use of the container. A removal of the container respects existing
 * claims, and a claim waits for a removal in progress, so that neither interferes with the other.
 */
class ContainerWriting {
  readonly #deps: TransferDeps
  readonly #row: PendingFile
  readonly #target: Target

  constructor(deps: TransferDeps, row: PendingFile, target: Target) {
    this.#deps = deps
    this.#row = row
    this.#target = target
  }

  async run(upload: Upload): Promise<Outcome<WrittenFile>> {
    let claim: PathClaim | null = null
    try {
      const staged = await this.#deps.storage.stage(upload.bytesAtMost ?? FILE_BYTES_MAX)
      if (!staged.ok) return staged
      try {
        const claimed = await this.#receiveAndClaim(upload, staged.value)
        if (!claimed.ok) return claimed
        claim = claimed.value
        return await this.#publish(claim, staged.value)
      } finally {
        await staged.value.discard()
      }
    } finally {
      // The sweep undoes later what `abandon` cannot undo now.
      if (claim === null) await this.#deps.files.abandon(this.#row, false)
    }
  }

  async #receiveAndClaim(upload: Upload, staging: Staging): Promise<Outcome<PathClaim>> {
    const {
      to: { container, path },
      signal,
    } = this.#target
    const received = await receivePlain(this.#deps, upload, {
      path: staging.path,
      holder: container.workspaceId,
      reservation: reservationOf(this.#deps, this.#row, signal),
    })
    if (!received.ok) return received
    if (signal.aborted) return { ok: false, failure: endedBy(signal) }
    return this.#deps.files.claimPath(this.#row, {
      containerId: container.containerId,
      path,
      sizeBytes: received.value.sizeBytes,
      signal,
    })
  }

  /** The file at the path afterwards is counted, even when another writer put it there. */
  async #publish(claim: PathClaim, staging: Staging): Promise<Outcome<WrittenFile>> {
    const {
      storage: { containers },
      sizes,
    } = this.#deps
    const {
      to: { container, path },
      signal,
    } = this.#target
    const published = await containers.publish(container, path, staging, signal)
    const there = await containers.stat(container, path)
    const isGone = !there.ok && there.failure.name === 'container_file_unknown'
    const found = there.ok ? there.value.sizeBytes : isGone ? 'nothing' : 'unknown'
    const isKnown = published.ok || NOTHING_PUBLISHED.has(published.failure.name)
    // If `release` fails, the claim expires and the sweep measures the path.
    await sizes.release(claim, isKnown ? found : 'unknown')
    if (!published.ok) return published
    // Another process removed the file at once. This upload has no file to report, so the caller gets a
    // failure.
    if (isGone) return fail('storage_unavailable', { retryAfterS: 1 })
    return ok({ path, sizeBytes: claim.sizeBytes, changedAt: there.ok ? there.value.changedAt : new Date() })
  }
}

async function receivePlain(
  { intake }: TransferDeps,
  upload: Upload,
  {
    path,
    holder,
    reservation,
  }: { readonly path: string; readonly holder: string; readonly reservation: Reservation },
): Promise<Outcome<IntakeVerdict>> {
  const session = intake.open({
    holder,
    target: { path, seal: null },
    content: 'any',
    bytesMax: FILE_BYTES_MAX,
  })
  if (!session.ok) return session
  try {
    const received = await receive(upload, session.value, reservation)
    return received.ok ? ok(received.value.verdict) : received
  } finally {
    await session.value.cancel()
  }
}

/**
 * Copies a container file into a new stored file. A repetition under its `Idempotency-Key` gets the first
 * reply, whatever happened to the container file since.
 */
async function promote(deps: TransferDeps, from: ContainerPath, input: StoreInput): Promise<Outcome<Stored>> {
  const opened = await deps.storage.containers.open(from.container, from.path, input.signal)
  try {
    return await promoteOpened(deps, opened, { from, input })
  } finally {
    if (opened.ok) await opened.value.close()
  }
}

interface Promotion {
  readonly from: ContainerPath
  readonly input: StoreInput
}

async function promoteOpened(
  deps: TransferDeps,
  opened: Outcome<StoredObject>,
  { from, input }: Promotion,
): Promise<Outcome<Stored>> {
  const source = promotable(opened)
  const { workspaceId, idempotency, signal } = input
  if (!source.ok && idempotency === null) return source
  const reserveBytes = source.ok ? source.value.sizeBytes : 0
  const begun = await deps.files.begin({ workspaceId, reserveBytes, idempotency, signal })
  if (!begun.ok) return begun
  if (begun.value.kind === 'replay') return ok({ file: begun.value.file, isReplay: true })
  const row = begun.value.upload
  if (!source.ok) {
    await deps.files.abandon(row, false)
    return source
  }
  const object = source.value
  const stored = await new FileWriting(deps, row, signal).run({
    content: 'type',
    bytesAtMost: object.sizeBytes,
    async fill(session) {
      const verdict = await copyWhole(object, session, signal)
      return verdict.ok
        ? ok({ filename: from.path, purpose: null, isDownloadable: true, verdict: verdict.value })
        : verdict
    },
  })
  return stored.ok ? ok({ file: stored.value, isReplay: false }) : stored
}

/**
 * Copies a file that must not change meanwhile: if the sandbox wrote it during the copy, a mix of two contents
 * would be worthless. Failures: those of `copy`.
 */
async function copyWhole(
  object: StoredObject,
  session: IntakeSession,
  signal: AbortSignal,
): Promise<Outcome<IntakeVerdict>> {
  const verdict = await copy(object.read(0, object.sizeBytes, { signal }), session, signal)
  // A file that became shorter during the copy seems damaged.
  if (!verdict.ok && verdict.failure.name !== 'content_damaged') return verdict
  const unchanged = await object.isUnchanged()
  if (!unchanged.ok) return unchanged
  if (unchanged.value) return verdict
  return fail('storage_unavailable', {
    retryAfterS: 1,
    cause: new Error('the container file was changed while it was being copied'),
  })
}

/** Checks a file before its copy: stored files are never empty and have one size limit, whatever their source. */
function promotable(opened: Outcome<StoredObject>): Outcome<StoredObject> {
  if (!opened.ok) return opened
  if (opened.value.sizeBytes === 0) return fail('file_empty')
  return opened.value.sizeBytes > FILE_BYTES_MAX
    ? fail('file_too_large', { fields: { limit: FILE_BYTES_MAX } })
    : opened
}
