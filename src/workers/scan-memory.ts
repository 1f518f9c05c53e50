import { KIB } from '../schemas/limits/limits.ts'
import { SCAN_CODE } from './scan-code.ts'
import { exportsOf } from './web-assembly.ts'

/** @returns where the code stopped: a place in the memory, between `at` and `end` */
type Reader = (at: number, end: number) => number

interface Code {
  readonly memory: Uint8Array
  readonly numbers: Reader
  readonly base64: Reader
}

/** Bytes of the region into which bytes are copied, and of the region that is lent. */
const REGION_BYTES = 64 * KIB
/** Bytes below which a copy costs more than a loop over single bytes. */
const COPIED_BYTES_MIN = 64
/** Characters of a round of `base64`: three numbers. */
const BASE64_STEP = 16
/** The character of base64 that is six zero bits. */
const UPPER_A = 0x41

/** Null when the processor, or a flag of Node, has no vectors of 16 bytes: then every byte is read by itself. */
const CODE = load()
/** Where the last characters of a text are completed to a round. */
const LAST = CODE?.memory.subarray(2 * REGION_BYTES, 2 * REGION_BYTES + BASE64_STEP) ?? null
const LENT = CODE?.memory.subarray(REGION_BYTES, 2 * REGION_BYTES) ?? new Uint8Array(REGION_BYTES)

/**
 * Memory of this thread that the scan reads where it lies: 64 KiB, always the same. A receiver that reads
 * answers into it (`onread.buffer` of a socket) and hands over views of it spares the scan its copy of each
 * answer. The scan does not write there. A thread has one such region, for one receiver.
 */
export function scanMemory(): Uint8Array {
  return LENT
}

/**
 * Bytes that the code reads: a copy in its memory, of 64 KiB at a time, unless they lie there. Every holder
 * takes the same memory: use one answer up before the next one. Places in the bytes only rise.
 */
export class ScanWindow {
  readonly #bytes: Uint8Array
  /** Place in the bytes after the last byte that the code can see. */
  #end: number
  /** What makes a place in the bytes one in the memory. */
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
   * @returns the first byte that does not fit to the two before it; `at` when the code sees too little
   */
  endOfNumbers(at: number): number {
    if (CODE === null || !this.#reaches(at)) return at
    return CODE.numbers(at + this.#shift, this.#end + this.#shift) - this.#shift
  }

  /**
   * Skips base64 of finite float32 numbers, three numbers in 16 characters at a time.
   * @param at the beginning of a number
   * @returns a place that is a multiple of 16 characters away, up to which this is certain
   */
  endOfBase64(at: number): number {
    while (CODE !== null && this.#reaches(at)) {
      const end = CODE.base64(at + this.#shift, this.#end + this.#shift) - this.#shift
      // Less than a step was left of the window.
      if (this.#end - end >= BASE64_STEP || this.#end === this.#bytes.length) return end
      at = end
    }
    return at
  }

  /**
   * Whether a few characters of base64, less than a round, are finite float32 numbers; false without the
   * code. The caller knows that they make whole numbers but for zero bits that are left.
   */
  isBase64(at: number, length: number): boolean {
    if (CODE === null || LAST === null) return false
    for (let nth = 0; nth < BASE64_STEP; nth++)
      LAST[nth] = nth < length ? (this.#bytes[at + nth] ?? 0) : UPPER_A
    return CODE.base64(LAST.byteOffset, LAST.byteOffset + BASE64_STEP) > LAST.byteOffset
  }

  /** Whether the code sees bytes from `at` on, after another copy where that pays. */
  #reaches(at: number): boolean {
    const left = this.#end - at
    if (left >= COPIED_BYTES_MIN) return true
    const bytes = this.#bytes
    if (this.#end === bytes.length) return left > 0
    if (CODE === null || bytes.length - at < COPIED_BYTES_MIN) return false
    // Most answers fit as they are: a view of a part costs more than the bytes before it.
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
