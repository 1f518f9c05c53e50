import type { GiveBack, Settlement } from '../ports/money/journal.ts'
import type { OpenTake, PaidFrom, TakeProgress } from '../ports/money/lending.ts'
import { packed } from './packing.ts'
import type { TextTokens } from '../ports/money/money.ts'

/** Kinds of records: the first byte of their body. A number never changes its meaning. */
export const KIND = {
  head: 1,
  take: 2,
  settle: 3,
  release: 4,
  giveBack: 5,
  sealed: 6,
  mark: 7,
  progress: 8,
  settleText: 9,
} as const

/** The length, its check, and the CRC-32 of the body. */
export const FRAME_BYTES = 8
/** Mask that turns a length into its check: it reveals a flipped bit, and a run of zeros is not a valid record. */
export const LENGTH_MASK = 0xa5c3
/** Bytes of a record's body, whose length has two bytes. */
export const BODY_BYTES_MAX = 0xffff

const FIRST_BYTES = 256 * 1_024
/** Bytes of the longest record, with room to spare. */
const RECORD_BYTES_MAX = BODY_BYTES_MAX + FRAME_BYTES
/** Texts whose packed form is cached: names of models, keys, workspaces. */
const PACKED_MAX = 10_000
/** Models of a key for which the ends of records are cached. */
const ENDS_MAX = 4

/**
 * Characters of a text that is packed directly. Longer texts, and texts of the length of ids that have a
 * shorter form, are packed in the usual way.
 */
const PLAIN_CHARS_MAX = 64
const IS_ID_LENGTH: Readonly<Record<number, boolean>> = { 36: true, 64: true }

/** The fields that a take and a settlement share. */
type Call = Pick<
  Settlement,
  | 'day'
  | 'atMs'
  | 'requestId'
  | 'operation'
  | 'organizationId'
  | 'workspaceId'
  | 'keyHash'
  | 'keyAccountId'
  | 'model'
  | 'paid'
>

/** Fields of a key that are packed once for all its records. */
interface Owner {
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyAccountId: string
  readonly bytes: Uint8Array
  /** By model. */
  readonly ends: Map<string, CallEnd>
}

/** The operation, the owner, the model and who pays: bytes that most calls of a key for a model share. */
interface CallEnd {
  readonly operation: string
  readonly flags: number
  readonly bytes: Uint8Array
}

/** Records of one append, encoded immediately into memory that is allocated once. */
export class RecordBuffer {
  bytes: Buffer
  length = 0
  #view: DataView
  #start = 0
  readonly #texts = new Map<string, Uint8Array>()
  readonly #owners = new Map<string, Owner>()

  constructor(bytes = FIRST_BYTES) {
    this.bytes = Buffer.allocUnsafeSlow(bytes)
    this.#view = viewOf(this.bytes)
  }

  take(id: number, take: OpenTake): void {
    this.#begin(KIND.take)
    this.#number(id)
    this.#call(take)
    const { organization, workspace, key } = take.amounts
    this.#number(organization)
    this.#number(workspace)
    this.#number(key)
    this.#end()
  }

  progress(takeId: number, progress: TakeProgress): void {
    this.#begin(KIND.progress)
    this.#number(takeId)
    this.#number(progress.atMs)
    this.#text(progress.provider)
    this.#text(progress.model)
    this.#number(progress.tokens)
    this.#textTokens(progress.text)
    this.#number(progress.milliseconds)
    this.#number(progress.costNano)
    this.#byte(flagsOf(progress.paid))
    this.#byte((progress.isByok ? 1 : 0) | (progress.isDrained ? 2 : 0))
    this.#fresh(progress.note)
    this.#end()
  }

  settle(takeId: number, entry: Settlement): void {
    const { text } = entry
    this.#begin(text === undefined ? KIND.settle : KIND.settleText)
    this.#number(takeId)
    this.#call(entry)
    this.#text(entry.provider)
    this.#number(entry.tokens)
    this.#number(entry.milliseconds)
    this.#number(entry.costNano)
    this.#number(entry.overrunNano)
    this.#byte((entry.isByok ? 1 : 0) | (entry.isEstimated ? 2 : 0))
    if (text !== undefined) this.#textTokens(text)
    this.#end()
  }

  release(takeId: number): void {
    this.#begin(KIND.release)
    this.#number(takeId)
    this.#end()
  }

  giveBack({ day, accountId, amountNano }: GiveBack): void {
    this.#begin(KIND.giveBack)
    this.#text(day)
    this.#text(accountId)
    this.#number(amountNano)
    this.#end()
  }

  /** A record without content that proves the file writable. */
  mark(): void {
    this.#begin(KIND.mark)
    this.#end()
  }

  /** The last record of a segment with a successor. */
  sealed(): void {
    this.#begin(KIND.sealed)
    this.#end()
  }

  head(texts: readonly string[], numbers: readonly number[]): void {
    this.#begin(KIND.head)
    for (const value of numbers) this.#number(value)
    for (const text of texts) this.#text(text)
    this.#end()
  }

  clear(): void {
    this.length = 0
  }

  /**
   * After a failed write: removes the records of takes and of progress, which a later write does not need, and
   * closes the gaps.
   * @returns the new ends of the entry records, in their order
   */
  dropTakes(): number[] {
    const ends: number[] = []
    let kept = 0
    for (let at = 0; at < this.length;) {
      const size = FRAME_BYTES + this.#view.getUint16(at, true)
      const kind = this.bytes[at + FRAME_BYTES]
      if (kind !== KIND.take && kind !== KIND.progress) {
        this.bytes.copyWithin(kept, at, at + size)
        kept += size
      }
      if (kind === KIND.settle || kind === KIND.settleText || kind === KIND.giveBack) ends.push(kept)
      at += size
    }
    this.length = kept
    return ends
  }

  #call(call: Call): void {
    this.#text(call.day)
    this.#number(call.atMs)
    this.#fresh(call.requestId)
    this.#append(this.#endOf(call))
  }

  #textTokens({ outputTokens, cachedTokens }: TextTokens): void {
    this.#number(outputTokens)
    this.#number(cachedTokens)
  }

  #begin(kind: number): void {
    this.#makeRoom()
    this.#start = this.length
    this.length += FRAME_BYTES
    this.#byte(kind)
  }

  #end(): void {
    const start = this.#start
    const body = start + FRAME_BYTES
    const length = this.length - body
    this.#view.setUint16(start, length, true)
    this.#view.setUint16(start + 2, length ^ LENGTH_MASK, true)
    this.#view.setUint32(start + 4, crc32Of(this.bytes, body, this.length), true)
  }

  #byte(value: number): void {
    this.bytes[this.length++] = value
  }

  #number(value: number): void {
    this.#view.setFloat64(this.length, value, true)
    this.length += 8
  }

  #text(text: string): void {
    this.#append(this.#packed(text))
  }

  #packed(text: string): Uint8Array {
    let bytes = this.#texts.get(text)
    if (bytes === undefined) {
      bytes = packed(text)
      if (this.#texts.size >= PACKED_MAX) this.#texts.clear()
      this.#texts.set(text, bytes)
    }
    return bytes
  }

  /** Writes a text that occurs once, in place if it is short and plain, as request ids are. */
  #fresh(text: string): void {
    const { bytes, length: start } = this
    const { length } = text
    let at = 0
    for (; at < length && at < PLAIN_CHARS_MAX; at++) {
      const code = text.charCodeAt(at)
      if (code > 127) break
      bytes[start + 1 + at] = code
    }
    if (at < length || IS_ID_LENGTH[length] === true) return this.#append(packed(text))
    bytes[start] = length
    this.length = start + 1 + length
  }

  #endOf(call: Call): Uint8Array {
    const { ends, bytes } = this.#ownerOf(call)
    const { operation, model } = call
    const flags = flagsOf(call.paid)
    let end = ends.get(model)
    if (end === undefined || end.operation !== operation || end.flags !== flags) {
      const parts = [this.#packed(operation), bytes, this.#packed(model), Uint8Array.of(flags)]
      end = { operation, flags, bytes: Buffer.concat(parts) }
      if (ends.size >= ENDS_MAX) ends.clear()
      ends.set(model, end)
    }
    return end.bytes
  }

  #ownerOf({ organizationId, workspaceId, keyHash, keyAccountId }: Call): Owner {
    const known = this.#owners.get(keyHash)
    if (
      known !== undefined &&
      known.workspaceId === workspaceId &&
      known.organizationId === organizationId &&
      known.keyAccountId === keyAccountId
    )
      return known
    const bytes = Buffer.concat([organizationId, workspaceId, keyHash, keyAccountId].map(packed))
    if (this.#owners.size >= PACKED_MAX) this.#owners.clear()
    const owner = { organizationId, workspaceId, keyAccountId, bytes, ends: new Map<string, CallEnd>() }
    this.#owners.set(keyHash, owner)
    return owner
  }

  #append(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  #makeRoom(): void {
    if (this.length + RECORD_BYTES_MAX <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(this.length + Math.max(this.bytes.length, RECORD_BYTES_MAX))
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
    this.#view = viewOf(larger)
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length)
}

function flagsOf({ organization, workspace, key }: PaidFrom): number {
  return (organization ? 1 : 0) | (workspace ? 2 : 0) | (key ? 4 : 0)
}

/** The CRC-32 of one byte, and of one byte before one to seven zeros. */
const TABLE = tableOf()

/**
 * Returns the same as `crc32` of `node:zlib`, which takes twice as long as this loop for the 150 bytes of a
 * record, because of its view and native call.
 */
export function crc32Of(bytes: Uint8Array, at: number, end: number): number {
  let crc = -1
  let place = at
  for (const last = end - 7; place < last; place += 8) {
    crc ^= byte(bytes, place) | (byte(bytes, place + 1) << 8)
    crc ^= (byte(bytes, place + 2) << 16) | (byte(bytes, place + 3) << 24)
    crc =
      entry(0x700 + (crc & 255)) ^
      entry(0x600 + ((crc >>> 8) & 255)) ^
      entry(0x500 + ((crc >>> 16) & 255)) ^
      entry(0x400 + (crc >>> 24)) ^
      entry(0x300 + byte(bytes, place + 4)) ^
      entry(0x200 + byte(bytes, place + 5)) ^
      entry(0x100 + byte(bytes, place + 6)) ^
      entry(byte(bytes, place + 7))
  }
  for (; place < end; place++) crc = entry((crc ^ byte(bytes, place)) & 255) ^ (crc >>> 8)
  return ~crc >>> 0
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0
}

function entry(at: number): number {
  return TABLE[at] ?? 0
}

function tableOf(): Int32Array {
  const table = new Int32Array(8 * 256)
  for (let at = 0; at < table.length; at++) {
    let crc = at < 256 ? at : (table[at - 256] ?? 0)
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? 0xed_b8_83_20 ^ (crc >>> 1) : crc >>> 1
    table[at] = crc
  }
  return table
}
