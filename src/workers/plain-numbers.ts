import { COMMA } from './json-bytes.ts'
import { plainNumbersCode } from './plain-numbers-code.ts'

/** Of WebAssembly's interface what is used here: Node's types leave it out. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> }
}

interface Code {
  readonly memory: Uint8Array
  /** @returns behind the last step whose bytes all fit */
  readonly run: (at: number, end: number) => number
}

/** Bytes below which looking at each is as fast. */
export const PLAIN_BYTES_MIN = 64

/**
 * Null where the processor, or a flag of Node's, has no vectors of 16 bytes: every number is then read by
 * itself.
 */
const CODE = load()

/**
 * Reads over numbers as embeddings have them (`-0.0123, 0.5,`: one digit, a point, more digits; spaces and
 * line breaks behind commas), 16 bytes at a time. Each of them is a valid and finite number of JSON; what is
 * written otherwise is not judged. Made for one answer and used up before the next one's: all share the
 * memory that the code can see. Places only go up.
 */
export class PlainNumbers {
  readonly #bytes: Uint8Array
  /** What of the bytes lies in the memory: each is copied about once. */
  #start = 0
  #end = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /**
   * @param at where a number begins, or white space before it
   * @returns behind the comma of the last number that was read, or `at`
   */
  endFrom(at: number): number {
    if (CODE === null || this.#bytes.length - at < PLAIN_BYTES_MIN) return at
    const { memory, run } = CODE
    if (this.#end - at < PLAIN_BYTES_MIN) {
      this.#start = at
      this.#end = Math.min(at + memory.length, this.#bytes.length)
      memory.set(this.#bytes.subarray(at, this.#end))
    }
    const first = at - this.#start
    let end = run(first, this.#end - this.#start)
    while (end > first && memory[end - 1] !== COMMA) end--
    return this.#start + end
  }
}

function load(): Code | null {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(plainNumbersCode()))
    const memory = exports['memory'] as { readonly buffer: ArrayBuffer }
    return { memory: new Uint8Array(memory.buffer), run: exports['run'] as Code['run'] }
  } catch {
    return null
  }
}
