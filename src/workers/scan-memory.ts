import { KIB } from '../schemas/limits/limits.ts'
import { SCAN_CODE } from './scan-code.ts'
import { exportsOf } from './web-assembly.ts'

/** @returns the place in the memory where the code stopped, between `at` and `end` */
type Reader = (at: number, end: number) => number

interface Code {
  readonly memory: Uint8Array
  readonly numbers: Reader
  readonly base64: Reader
}

/** Bytes of the region into which bytes are copied, and of the region that is lent to a receiver. */
const REGION_BYTES = 64 * KIB
/** Bytes below which a copy costs more than a loop over single bytes. */
const COPIED_BYTES_MIN = 64
/** Characters of one round of `base64`: three numbers. */
const BASE64_STEP = 16
/** The base64 character for six zero bits. */
const UPPER_A = 0x41

/** Null when the processor, or a flag of Node, has no vectors of 16 bytes; then every byte is read separately. */
const CODE = load()
/** A region in which the last characters of a text are padded to a full round. */
const LAST = CODE?.memory.subarray(2 * REGION_BYTES, 2 * REGION_BYTES + BASE64_STEP) ?? null
const LENT = CODE?.memory.subarray(REGION_BYTES, 2 * REGION_BYTES) ?? new Uint8Array(REGION_BYTES)

/**
 * Memory of this thread that the scan reads where it lies: 64 KiB, always the same. A receiver that reads answers into
 * it (`onread.buffer` of a socket) and passes on views of it saves the scan a copy of each answer. The scan does not
 * write there. A thread has one such region, for one receiver.
 */
export function scanMemory(): Uint8Array {
  return LENT
}

/**
 * Bytes that the code reads: they are copied into its memory, 64 KiB at a time, unless they are already there. All
 * windows share this memory: finish one answer before the next one. Places in the bytes may only increase.
 */
export class ScanWindow {
  readonly #bytes: Uint8Array
  /** Place in the bytes after the last byte that the code can read. */
  #end: number
  /** Offset that converts a place in the bytes to a place in the memory. */
  #shift: number

  constructor(bytes: Uint8Array) {
    const isThere = bytes.buffer === LENT.buffer
    this.#bytes = bytes
    this.#end = isThere ? bytes.length : 0
    this.#shift = isThere ? bytes.byteOffset : 0
  }

  /**
   * Skips numbers in the form of embeddings (`-0.0123, 0.5,`: one digit, a point, more digits; spaces and
   * line breaks after commas). Each of them is a valid and finite number of JSON.
   * @param at the beginning of a number, or of white space before it
   * @returns the place of the first byte that may not follow the two before it; `at` when the code can read too few bytes
   */
  endOfNumbers(at: number): number {
    if (CODE === null || !this.#reaches(at)) return at
    return CODE.numbers(at + this.#shift, this.#end + this.#shift) - this.#shift
  }

  /**
   * Skips base64 of finite float32 numbers, three numbers in 16 characters at a time.
   * @param at the beginning of a number
   * @returns the place up to which all numbers are valid, a multiple of 16 characters after `at`
   */
  endOfBase64(at: number): number {
    while (CODE !== null && this.#reaches(at)) {
      const end = CODE.base64(at + this.#shift, this.#end + this.#shift) - this.#shift
      // Less than one step of the window was left.
      if (this.#end - end >= BASE64_STEP || this.#end === this.#bytes.length) return end
      at = end
    }
    return at
  }

  /**
   * Whether a few characters of base64, less than a round, are finite float32 numbers; false without the
   * code. The caller ensures that they are whole numbers, except for leftover zero bits.
   */
  isBase64(at: number, length: number): boolean {
    if (CODE === null || LAST === null) return false
    for (let nth = 0; nth < BASE64_STEP; nth++)
      LAST[nth] = nth < length ? (this.#bytes[at + nth] ?? 0) : UPPER_A
    return CODE.base64(LAST.byteOffset, LAST.byteOffset + BASE64_STEP) > LAST.byteOffset
  }

  /** Whether the code can read the bytes from `at` on; makes another copy where that pays. */
  #reaches(at: number): boolean {
    const left = this.#end - at
    if (left >= COPIED_BYTES_MIN) return true
    const bytes = this.#bytes
    if (this.#end === bytes.length) return left > 0
    if (CODE === null || bytes.length - at < COPIED_BYTES_MIN) return false
    // Most answers fit as a whole: a view of a part costs more than copying the bytes before it.
    const isWhole = bytes.length <= REGION_BYTES
    this.#end = isWhole ? bytes.length : Math.min(at + REGION_BYTES, bytes.length)
    this.#shift = isWhole ? 0 : -at
    CODE.memory.set(isWhole ? bytes : bytes.subarray(at, this.#end))
    return true
  }
}

function load(): Code | null {
  const exports = exportsOf(SCAN_CODE)
  if (exports === null) return null
  const { buffer } = exports['memory'] as { readonly buffer: ArrayBuffer }
  return {
    memory: new Uint8Array(buffer),
    numbers: exports['numbers'] as Reader,
    base64: exports['base64'] as Reader,
  }
}
