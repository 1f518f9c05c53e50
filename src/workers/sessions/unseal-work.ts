import { readSync } from 'node:fs'
import { ok, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_PIECE_BYTES } from '../../schemas/files/file-limits.ts'
import { detach, wholeBuffers } from '../detach.ts'
import { HEADER_BYTES, SEGMENT_BYTES, TAG_BYTES } from '../seal/format.ts'
import { createOpener, damaged, type Opener } from '../seal/opener.ts'
import { openRange, type RangeOpener } from '../seal/range-opener.ts'
import type { ThreadSession, ToThread, UnsealJob, SessionOutput } from './protocol.ts'
import { bytesOf } from '../../schemas/values/json-bytes.ts'

const SEALED_SEGMENT_BYTES = SEGMENT_BYTES + TAG_BYTES
/** Together with the rest of the previous piece, these bytes open to at most STORAGE_PIECE_BYTES. */
const PULLED_SLICE_BYTES = STORAGE_PIECE_BYTES - SEGMENT_BYTES
/**
 * Buffer for a sealed segment between reading and opening. No other session runs in between, so the thread needs only
 * one, and it stays in the cache of a core.
 */
const scratch = Buffer.allocUnsafeSlow(SEALED_SEGMENT_BYTES)

/**
 * One range of a sealed object that is being read. With a descriptor the session reads by itself; otherwise it requests
 * the bytes; it opens a piece only when there is room for one. Design §5.
 */
export class UnsealWork implements ThreadSession {
  readonly #job: UnsealJob
  readonly #output: SessionOutput
  /** Room for further pieces, one entry each. */
  readonly #room: Room[] = []
  #range: RangeOpener | null = null
  #opener: Opener | null = null
  /** Place of the next byte to read in the object. */
  #at = 0
  #pulled: Buffer = Buffer.alloc(0)
  #isPulling = false

  constructor(job: UnsealJob, output: SessionOutput) {
    this.#job = job
    this.#output = output
  }

  receive(message: ToThread): void {
    if (message.kind === 'more') this.#room.push(message)
    else if (message.kind === 'piece') this.#arrive(Buffer.from(message.bytes, 0, message.length))
    else if (message.kind === 'end') this.#end(damaged('the object is shorter than its database record'))
    else throw new Error(`unexpected message in a download session: ${message.kind}`)
  }

  step(): boolean {
    const [room] = this.#room
    if (room === undefined) return false
    const { descriptor } = this.#job
    return descriptor === null ? this.#stepPulled() : this.#stepRead(descriptor, room.bytes)
  }

  release(): void {
    this.#opener?.discard()
    this.#job.dataKey.fill(0)
  }

  #stepRead(descriptor: number, bytes: number): boolean {
    if (this.#range === null) {
      this.#open(scratch.subarray(0, readSync(descriptor, scratch, 0, HEADER_BYTES, 0)))
      return true
    }
    return this.#readPiece(this.#range, { descriptor, bytes })
  }

  /**
   * Fills one piece segment by segment. Between storage and socket the bytes are copied once, from the cipher's own
   * memory into the piece. Passing on the cipher's own pieces would need no copy, but a write to the socket for each,
   * which costs more.
   */
  #readPiece(range: RangeOpener, { descriptor, bytes }: Segments): boolean {
    const segmentsLeft = Math.ceil((range.plan.to - this.#at) / SEALED_SEGMENT_BYTES)
    const segments = Math.min(Math.max(1, Math.floor(bytes / SEGMENT_BYTES)), segmentsLeft)
    const piece = bufferFor(segments * SEGMENT_BYTES, this.#room.shift())
    let length = 0
    while (this.#at < range.plan.to && length + SEGMENT_BYTES <= piece.byteLength) {
      const opened = this.#readSegment(range, descriptor)
      if (!opened.ok) {
        this.#send(piece, length)
        return this.#end(opened)
      }
      length += copied(opened.value, piece, length)
    }
    return this.#give(range, piece, length)
  }

  #readSegment(range: RangeOpener, descriptor: number): Outcome<readonly Uint8Array[]> {
    const wanted = Math.min(SEALED_SEGMENT_BYTES, range.plan.to - this.#at)
    let count = 0
    // On some systems a read returns fewer bytes than the file has.
    for (let more = -1; more !== 0 && count < wanted; count += more)
      more = readSync(descriptor, scratch, count, wanted - count, this.#at + count)
    if (count === 0) return damaged('the object is shorter than its database record')
    this.#at += count
    return range.push(scratch.subarray(0, count))
  }

  #stepPulled(): boolean {
    if (this.#range === null && this.#pulled.length >= HEADER_BYTES) this.#open(this.#shift(HEADER_BYTES))
    if (this.#range !== null && this.#pulled.length > 0)
      return this.#openPulled(this.#range, this.#shift(PULLED_SLICE_BYTES))
    if (!this.#isPulling) {
      this.#isPulling = true
      this.#output.post({ kind: 'pull' })
    }
    return false
  }

  /** A header may come in several pieces; no other bytes are joined. */
  #arrive(piece: Buffer): void {
    this.#isPulling = false
    this.#pulled = this.#pulled.length === 0 ? piece : Buffer.concat([this.#pulled, piece])
  }

  #shift(bytesMax: number): Buffer {
    const head = this.#pulled.subarray(0, bytesMax)
    this.#pulled = this.#pulled.subarray(head.length)
    return head
  }

  #open(header: Uint8Array): void {
    const { dataKey, dataKeyId, objectId, sizeBytes, objectBytes, from, to } = this.#job
    const opened = createOpener({ dataKey, dataKeyId, objectId, sizeBytes, objectBytes, header })
    dataKey.fill(0)
    if (!opened.ok) return void this.#end(opened)
    this.#opener = opened.value
    this.#range = openRange(opened.value, from, to)
    this.#at = this.#range.plan.from
  }

  #openPulled(range: RangeOpener, sealed: Uint8Array): boolean {
    const opened = range.push(sealed)
    if (!opened.ok) return this.#end(opened)
    const length = bytesOf(opened.value)
    if (length === 0) return range.isComplete ? this.#end(ok(null)) : true
    const piece = bufferFor(length, this.#room.shift())
    copied(opened.value, piece, 0)
    return this.#give(range, piece, length)
  }

  #give(range: RangeOpener, piece: ArrayBuffer, length: number): boolean {
    this.#send(piece, length)
    return range.isComplete ? this.#end(ok(null)) : true
  }

  /** Sends the first `length` bytes of the buffer. */
  #send(bytes: ArrayBuffer, length: number): void {
    if (length > 0) this.#output.post({ kind: 'piece', bytes, length }, bytes)
  }

  #end(outcome: Outcome<unknown>): boolean {
    if (outcome.ok) this.#output.end({ kind: 'opened' })
    else
      this.#output.end({
        kind: 'failed',
        name: outcome.failure.name,
        fields: {},
        cause: String(outcome.failure.cause),
      })
    return false
  }
}

/** Room for a piece, and where its segments are. */
interface Segments {
  readonly descriptor: number
  readonly bytes: number
}

type Room = Extract<ToThread, { readonly kind: 'more' }>

/** A separate buffer, which can be moved. A buffer larger than the room would use another reader's share. */
function bufferFor(length: number, room: Room | undefined): ArrayBuffer {
  const spare = room?.spare ?? null
  if (room !== undefined && spare !== null && spare.byteLength >= length && spare.byteLength <= room.bytes)
    return spare
  if (spare !== null) detach([spare])
  return Buffer.allocUnsafeSlow(length).buffer
}

/** Copies the pieces into the buffer, starting at a place, and frees their memory. @returns the total number of bytes */
function copied(pieces: readonly Uint8Array[], to: ArrayBuffer, place: number): number {
  const whole = new Uint8Array(to)
  let at = place
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  detach(wholeBuffers(pieces, SEGMENT_BYTES))
  return at - place
}
