import { endedBy } from '../../schemas/call-ended.ts'
import { ok, type Outcome } from '../../schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../schemas/file-limits.ts'
import type { FileFacts, FileRecord, Upload as PendingFile } from '../ports/files.ts'
import type { IntakeSession, IntakeVerdict } from '../ports/intake.ts'
import type { Staging } from '../ports/storage.ts'
import type { TransferParts } from './parts.ts'

/** What a source says of its file when the session has its last byte. */
export interface Written {
  readonly filename: string
  readonly purpose: string | null
  readonly isDownloadable: boolean
  readonly verdict: IntakeVerdict
}

export interface Source {
  readonly content: 'refuse' | 'type'
  /** Plain bytes; the most that there can be. */
  readonly bytesAtMost: number
  /** Gives the session everything and finishes it. */
  fill(session: IntakeSession): Promise<Outcome<Written>>
}

/** Bytes that sealing adds: a header, and a tag for each 64 KiB; rounded up. Design §5. */
const SEAL_HEADER_BYTES = 256
const SEAL_SHARE = 1 / 4_096

/**
 * A pending row on its way to a stored file: staged, sealed, published, committed. Whatever fails, or throws, is undone
 * in the opposite order, and what only the sweep may undo is left to it by the row. Design §5.
 */
export class FileWriting {
  readonly #parts: TransferParts
  readonly #row: PendingFile
  readonly #signal: AbortSignal
  #staging: Staging | null = null
  #session: IntakeSession | null = null
  #mayHaveObject = false

  constructor(parts: TransferParts, row: PendingFile, signal: AbortSignal) {
    this.#parts = parts
    this.#row = row
    this.#signal = signal
  }

  async run(source: Source): Promise<Outcome<FileRecord>> {
    let isStored = false
    try {
      const stored = await this.#store(source)
      isStored = stored.ok
      return stored
    } finally {
      await this.#session?.cancel()
      await this.#staging?.discard()
      // What it cannot do now the sweep does.
      if (!isStored) await this.#parts.files.abandon(this.#row, this.#mayHaveObject)
    }
  }

  async #store(source: Source): Promise<Outcome<FileRecord>> {
    const opened = await this.#open(source)
    if (!opened.ok) return opened
    const { session, dataKeyId } = opened.value
    const written = await source.fill(session)
    if (!written.ok) return written
    const { verdict, ...more } = written.value
    return this.#publish({ ...more, ...verdict, dataKeyId })
  }

  async #open({ content, bytesAtMost }: Source): Promise<Outcome<{ readonly session: IntakeSession; readonly dataKeyId: string }>> {
    const { storage, keyRing, intake } = this.#parts
    const staged = await storage.stage(bytesAtMost + Math.ceil(bytesAtMost * SEAL_SHARE) + SEAL_HEADER_BYTES)
    if (!staged.ok) return staged
    this.#staging = staged.value
    const dataKey = await keyRing.current(this.#row.workspaceId, 'files')
    if (!dataKey.ok) return dataKey
    const { id, key } = dataKey.value
    if (this.#signal.aborted) {
      key.fill(0)
      return { ok: false, failure: endedBy(this.#signal) }
    }
    const target = { path: staged.value.path, seal: { dataKey: dataKey.value, objectId: this.#row.id } }
    const session = intake.open({ holder: this.#row.workspaceId, target, content, bytesMax: FILE_BYTES_MAX })
    if (!session.ok) return session
    this.#session = session.value
    return ok({ session: session.value, dataKeyId: id })
  }

  async #publish(facts: FileFacts): Promise<Outcome<FileRecord>> {
    const { files, storage } = this.#parts
    const signal = this.#signal
    if (signal.aborted || this.#staging === null) return { ok: false, failure: endedBy(signal) }
    this.#mayHaveObject = true
    const published = await storage.publish(this.#row.id, this.#staging, signal)
    if (!published.ok) return published
    if (signal.aborted) return { ok: false, failure: endedBy(signal) }
    const committed = await files.commit(this.#row, facts)
    // The sweep took the row over and may have looked for the bytes before they were there.
    if (!committed.ok && committed.failure.name === 'upload_lost') await storage.remove(this.#row.id)
    return committed
  }
}
