import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { LARGE_PIECE_BYTES, OPENED_BYTES_MAX, STORAGE_PIECE_BYTES } from '../../schemas/files/file-limits.ts'
import { KeepingUp } from '../../schemas/files/keeping-up.ts'
import type { ByteReader } from '../../server/ports/byte-streams.ts'
import type { Unsealing, UnsealInput } from '../../server/ports/files/intake.ts'
import { detach } from '../detach.ts'
import { HEADER_BYTES, layoutOf, SEGMENT_BYTES } from '../seal/format.ts'
import { rangePlan } from '../seal/opener.ts'
import { failureOfLast } from './last-message.ts'
import type { FromThread } from './protocol.ts'
import type { Session, SessionPool } from './session-pool.ts'

/** Pieces of one sealed download that its thread may send before the caller has finished them. Design §5; Decision. */
export const OPENED_PIECES_MAX = 2

export interface UnsealingOptions {
  readonly sessions: SessionPool
  /** The failure for an error of a system call on an object: `Storage.failureOf`. */
  readonly failureOf: (cause: unknown) => Failure
}

/**
 * The main side of reading sealed objects. `open` answers when the first piece is verified, so that damage at
 * the beginning gets its own status; `close` of the reader cancels. Design §5.
 */
export function createUnsealing({ sessions, failureOf }: UnsealingOptions): Unsealing {
  const room = new OpenedRoom(() => sessions.count('unseal'))
  return {
    async open(input) {
      const { file, object, dataKey } = input
      const refusal = refusalOf(input)
      if (refusal !== null) {
        dataKey.key.fill(0)
        return { ok: false, failure: refusal }
      }
      const opening = new Opening(input, { failureOf, room })
      const session = sessions.start(
        {
          kind: 'unseal',
          descriptor: object.descriptor,
          dataKey: dataKey.key,
          dataKeyId: dataKey.id,
          objectId: file.id,
          sizeBytes: file.sizeBytes,
          objectBytes: object.sizeBytes,
          from: input.from,
          to: input.to,
        },
        { moved: [dataKey.key.buffer], holder: file.workspaceId },
        opening,
      )
      if (session.ok) {
        input.onLent?.(session.value.released)
        return opening.begin(session.value)
      }
      dataKey.key.fill(0)
      return session
    },
  }
}

/** Failures that are found without a thread. */
function refusalOf({ file, object, dataKey }: UnsealInput): Failure | null {
  if (dataKey.id !== file.dataKeyId)
    return {
      name: 'data_key_unavailable',
      cause: new Error('the key differs from the key in the database record'),
    }
  if (object.sizeBytes === layoutOf(file.sizeBytes).objectBytes) return null
  return {
    name: 'content_damaged',
    cause: new Error('the length of the object differs from its database record'),
  }
}

/** Pieces that have arrived and wait for a call of `next`, or the call that waits for a piece. */
class Opening implements ByteReader {
  readonly #input: UnsealInput
  readonly #failureOf: (cause: unknown) => Failure
  readonly #room: OpenedRoom
  /** Bytes of the pieces that the thread may still send or that the caller has, in their order. */
  readonly #allowed: number[] = []
  readonly #pace = new KeepingUp(() => performance.now())
  readonly #pieces: Uint8Array<ArrayBuffer>[] = []
  #session: Session | null = null
  /** Sealed bytes, when the thread cannot read by itself. */
  #source: ByteReader | null = null
  readonly #ranges: SealedRange[]
  #end: Outcome<null> | null = null
  #wake: (() => void) | null = null
  /** Buffer of the last piece given out. */
  #lent: ArrayBuffer | null = null
  #isClosed = false

  constructor(
    input: UnsealInput,
    { failureOf, room }: { failureOf: (cause: unknown) => Failure; room: OpenedRoom },
  ) {
    this.#input = input
    this.#ranges = rangesOf(input)
    this.#failureOf = failureOf
    this.#room = room
  }

  async begin(session: Session): Promise<Outcome<ByteReader>> {
    this.#session = session
    for (let nth = 0; nth < OPENED_PIECES_MAX; nth++) this.#more(null)
    await this.#change()
    if (this.#pieces.length === 0 && this.#end?.ok === false) {
      this.close()
      return this.#end
    }
    return ok(this)
  }

  async next(): Promise<Outcome<Uint8Array | null>> {
    this.#takeBack()
    await this.#change()
    const piece = this.ready()
    return piece === null ? (this.#end ?? fail('client_gone')) : ok(piece)
  }

  ready(): Uint8Array | null {
    this.#takeBack()
    const piece = this.#pieces.shift()
    if (piece === undefined) return null
    this.#lent = piece.buffer
    this.#pace.given(piece.length)
    return piece
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    detach(this.#pieces.splice(0).map(({ buffer }) => buffer))
    for (const bytes of this.#allowed.splice(0)) this.#room.giveBack(bytes)
    this.#session?.cancel()
    this.#source?.close()
    this.#settle(fail('client_gone'))
  }

  onMessage(message: FromThread): void {
    if (message.kind === 'piece') {
      this.#pieces.push(new Uint8Array(message.bytes, 0, message.length))
      this.#notify()
    } else if (message.kind === 'pull') void this.#pull()
    else if (message.kind === 'opened') this.#settle(ok(null))
    else this.#settle({ ok: false, failure: failureOfLast(message, this.#failureOf) })
  }

  onLost(cause: unknown): void {
    this.#settle(fail('busy', { retryAfterS: 1, cause }))
  }

  /** The caller has finished the piece before. */
  #takeBack(): void {
    if (this.#lent === null) return
    this.#pace.finished()
    this.#room.giveBack(this.#allowed.shift() ?? 0)
    this.#more(this.#lent)
    this.#lent = null
  }

  /** @param spare a buffer that the thread may reuse */
  #more(spare: ArrayBuffer | null): void {
    if (this.#end !== null) return detach(spare === null ? [] : [spare])
    const bytes = this.#room.take(this.#pace.isSteady)
    this.#allowed.push(bytes)
    this.#session?.post({ kind: 'more', bytes, spare }, spare ?? undefined)
  }

  #change(): Promise<void> {
    if (this.#pieces.length > 0 || this.#end !== null) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  #settle(end: Outcome<null>): void {
    this.#end ??= end
    this.#notify()
  }

  async #pull(): Promise<void> {
    // A rejection is a bug, and ends only this reader.
    const piece = await this.#nextSealed().catch((cause: unknown) => fail('internal', { cause }))
    if (this.#end !== null) return
    if (!piece.ok) {
      this.#session?.cancel()
      return this.#settle(piece)
    }
    if (piece.value === null) return this.#session?.post({ kind: 'end' })
    const bytes = ownBuffer(piece.value)
    this.#session?.post({ kind: 'piece', bytes, length: bytes.byteLength }, bytes)
  }

  async #nextSealed(): Promise<Outcome<Uint8Array | null>> {
    const { signal } = this.#input
    while (this.#end === null) {
      if (this.#source === null) {
        const range = this.#ranges.shift()
        if (range === undefined) break
        this.#source = this.#input.object.read(range.from, range.to, {
          mayTransfer: true,
          ...(signal !== undefined && { signal }),
        })
      }
      const piece = await this.#source.next()
      if (!piece.ok || piece.value !== null) return piece
      this.#source.close()
      this.#source = null
    }
    return ok(null)
  }
}

interface SealedRange {
  readonly from: number
  readonly to: number
}

/** The header and the segments: together when the range begins right after the header. */
function rangesOf({ file, from, to }: UnsealInput): SealedRange[] {
  const range = rangePlan(from, to, file.sizeBytes)
  if (range.from === HEADER_BYTES) return [{ from: 0, to: range.to }]
  return [{ from: 0, to: HEADER_BYTES }, range]
}

/** The piece in a buffer of its own: readers may return views of larger buffers. */
function ownBuffer(piece: Uint8Array): ArrayBuffer {
  const { buffer } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.length) return buffer
  return Uint8Array.from(piece).buffer
}

/** Divides OPENED_BYTES_MAX among the sealed downloads of a front. */
export class OpenedRoom {
  readonly #readers: () => number
  /** Bytes of all pieces that were allowed and are not finished. */
  #lentBytes = 0

  /** @param readers sealed downloads under way */
  constructor(readers: () => number) {
    this.#readers = readers
  }

  /**
   * @param isSteady the reader keeps up; it gets a large piece while all pieces together take at most half
   * @returns bytes that the next piece may have, at least a segment; to be returned once
   */
  take(isSteady: boolean): number {
    const fair = Math.floor(OPENED_BYTES_MAX / OPENED_PIECES_MAX / Math.max(1, this.#readers()))
    const isLarge = isSteady && this.#lentBytes + LARGE_PIECE_BYTES <= OPENED_BYTES_MAX / 2
    const most = isLarge ? LARGE_PIECE_BYTES : STORAGE_PIECE_BYTES
    const bytes = Math.min(most, Math.max(SEGMENT_BYTES, fair))
    this.#lentBytes += bytes
    return bytes
  }

  giveBack(bytes: number): void {
    this.#lentBytes -= bytes
  }
}
