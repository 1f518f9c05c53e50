import { endedBy } from '../../schemas/values/call-ended.ts'
import type { Outcome } from '../../schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../schemas/files/file-limits.ts'
import type { FileFacts, FileRecord, PendingFile } from '../ports/files/files.ts'
import type { IntakeSession, IntakeVerdict } from '../ports/files/intake.ts'
import { ObjectWriting } from './object-writing.ts'
import type { TransferDeps } from './transfer-deps.ts'

/** The facts that a source reports of its file when the session has the last byte. */
export interface Written {
  readonly filename: string
  readonly purpose: string | null
  readonly expiresAfterS?: number | null
  readonly isDownloadable: boolean
  readonly verdict: IntakeVerdict
}

export interface Source {
  readonly content: 'refuse' | 'type'
  /** Plain bytes: the most that the source can give. */
  readonly bytesAtMost: number
  /** Writes the whole source into the session and finishes the session. */
  fill(session: IntakeSession): Promise<Outcome<Written>>
}

/**
 * A pending row on its way to a stored file: first the object, then the commit. A failure or an exception
 * undoes the steps in the opposite order. Steps that only the sweep may undo stay recorded in the row for the
 * sweep. Design §5.
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
    // The sweep took the row over and may have looked for the bytes before they were published.
    if (!committed.ok && committed.failure.name === 'upload_lost') await storage.remove(this.#row.id)
    return committed
  }
}
