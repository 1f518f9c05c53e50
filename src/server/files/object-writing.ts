import { endedBy } from '../../schemas/values/call-ended.ts'
import { ok, type Outcome } from '../../schemas/failures.ts'
import type { IntakeSession, IntakeInput, Intake, Unsealing, IntakeVerdict } from '../ports/files/intake.ts'
import type { Staging, Storage } from '../ports/files/storage.ts'
import type { ContainerSizes } from '../ports/containers/container-rows.ts'
import type { Files, FileFacts, FileRecord, PendingFile } from '../ports/files/files.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import { FILE_BYTES_MAX } from '../../schemas/files/file-limits.ts'

export type ObjectDeps = Pick<TransferDeps, 'storage' | 'keyRing' | 'intake'>

export interface ObjectInput {
  readonly workspaceId: string
  readonly objectId: string
  readonly signal: AbortSignal
}

export interface OpenObject {
  readonly session: IntakeSession
  readonly dataKeyId: string
}

/** Bytes that sealing adds at the head of an object, rounded up. Design §5. */
const SEAL_HEADER_BYTES = 256
/** Share of the plain bytes that sealing adds: a tag of 16 bytes for each 64 KiB. Design §5. */
const SEAL_SHARE = 1 / 4_096

/** The writing of an object into storage: it is staged, sealed and published. The caller keeps the rows. Design §5. */
export class ObjectWriting {
  readonly #deps: ObjectDeps
  readonly #input: ObjectInput
  #staging: Staging | null = null
  #session: IntakeSession | null = null
  #mayHaveObject = false

  constructor(deps: ObjectDeps, input: ObjectInput) {
    this.#deps = deps
    this.#input = input
  }

  /** True once `publish` was called: the object may exist whatever `publish` returned. */
  get mayHaveObject(): boolean {
    return this.#mayHaveObject
  }

  /**
   * @param bytesAtMost the most plain bytes that can arrive. Failures: those of `Storage.stage`,
   * `KeyRing.current`, `Intake.open`, and of the signal
   */
  async open({
    bytesAtMost,
    ...more
  }: Pick<IntakeInput, 'content' | 'bytesMax'> & { readonly bytesAtMost: number }): Promise<
    Outcome<OpenObject>
  > {
    const { storage, keyRing, intake } = this.#deps
    const { workspaceId, objectId, signal } = this.#input
    const staged = await storage.stage(bytesAtMost + Math.ceil(bytesAtMost * SEAL_SHARE) + SEAL_HEADER_BYTES)
    if (!staged.ok) return staged
    this.#staging = staged.value
    const dataKey = await keyRing.current(workspaceId, 'files')
    if (!dataKey.ok) return dataKey
    const { id, key } = dataKey.value
    if (signal.aborted) {
      key.fill(0)
      return { ok: false, failure: endedBy(signal) }
    }
    const target = { path: staged.value.path, seal: { dataKey: dataKey.value, objectId } }
    const session = intake.open({ holder: workspaceId, target, ...more })
    if (!session.ok) return session
    this.#session = session.value
    return ok({ session: session.value, dataKeyId: id })
  }

  /** To be called after the session has finished. Failures: those of `Storage.publish`, and of the signal. */
  async publish(): Promise<Outcome<null>> {
    const { objectId, signal } = this.#input
    if (signal.aborted || this.#staging === null) return { ok: false, failure: endedBy(signal) }
    this.#mayHaveObject = true
    return this.#deps.storage.publish(objectId, this.#staging, signal)
  }

  /** To be called on every path: cancels the session and discards bytes that are not published. */
  async end(): Promise<void> {
    await this.#session?.cancel()
    await this.#staging?.discard()
  }
}

export interface TransferDeps {
  readonly files: Files
  readonly sizes: Pick<ContainerSizes, 'release'>
  readonly storage: Storage
  readonly keyRing: KeyRing
  readonly intake: Intake
  readonly unsealing: Unsealing
}

/** Facts about its file that a source reports when the session has the last byte. */
export interface Written {
  readonly filename: string
  readonly purpose: string | null
  readonly expiresAfterS?: number | null
  readonly isDownloadable: boolean
  readonly verdict: IntakeVerdict
}

interface Source {
  readonly content: 'refuse' | 'type'
  /** The most plain bytes that the source can deliver. */
  readonly bytesAtMost: number
  /** Writes the whole source into the session and finishes the session. */
  fill(session: IntakeSession): Promise<Outcome<Written>>
}

/**
 * Turns a pending row into a stored file: first the object is written, then the row is committed. A failure or
 * an exception undoes the steps in the opposite order. Steps that only the sweep may undo stay recorded in the
 * row for the sweep. Design §5.
 */
export class FileWriting {
  readonly #deps: TransferDeps
  readonly #row: PendingFile
  readonly #signal: AbortSignal
  readonly #object: ObjectWriting

  constructor(deps: TransferDeps, row: PendingFile, signal: AbortSignal) {
    this.#deps = deps
    this.#row = row
    this.#signal = signal
    this.#object = new ObjectWriting(deps, { workspaceId: row.workspaceId, objectId: row.id, signal })
  }

  async run(source: Source): Promise<Outcome<FileRecord>> {
    let isStored = false
    try {
      const stored = await this.#store(source)
      isStored = stored.ok
      return stored
    } finally {
      await this.#object.end()
      // The sweep undoes later what `abandon` cannot undo now.
      if (!isStored) await this.#deps.files.abandon(this.#row, this.#object.mayHaveObject)
    }
  }

  async #store({ content, bytesAtMost, fill }: Source): Promise<Outcome<FileRecord>> {
    const opened = await this.#object.open({ content, bytesAtMost, bytesMax: FILE_BYTES_MAX })
    if (!opened.ok) return opened
    const { session, dataKeyId } = opened.value
    const written = await fill(session)
    if (!written.ok) return written
    const { verdict, ...more } = written.value
    return this.#publish({ ...more, ...verdict, dataKeyId })
  }

  async #publish(facts: FileFacts): Promise<Outcome<FileRecord>> {
    const { files, storage } = this.#deps
    const signal = this.#signal
    const published = await this.#object.publish()
    if (!published.ok) return published
    if (signal.aborted) return { ok: false, failure: endedBy(signal) }
    const committed = await files.commit(this.#row, facts)
    // The sweep took over the row, and may have looked for the bytes before they were published.
    if (!committed.ok && committed.failure.name === 'upload_lost') await storage.remove(this.#row.id)
    return committed
  }
}
