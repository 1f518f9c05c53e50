import { COMMA } from '../schemas/values/json-bytes.ts'
import { PLAIN_NUMBERS_CODE } from './plain-numbers-code.ts'

/** The parts of WebAssembly's interface that are used here: Node's types omit it. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> }
}

interface Code {
  readonly memory: Uint8Array
  /** @returns the place after the last step whose bytes all fit */
  readonly run: (at: number, end: number) => number
}

/** Bytes below which a loop over single bytes is as fast. */
export const PLAIN_BYTES_MIN = 64

/**
 * Null when the processor, or a flag of Node, has no vectors of 16 bytes: every number is then read by
 * itself.
 */
const CODE = load()

/**
 * Skips numbers in the form of embeddings (`-0.0123, 0.5,`: one digit, a point, more digits; spaces and line
 * breaks after commas), 16 bytes at a time. Each such number is a valid and finite number of JSON; other
 * forms are left to the caller. Create it for one answer and use it up before the next one: all share the
 * memory that the code can access. Places only rise.
 */
export class PlainNumbers {
  readonly #bytes: Uint8Array
  /** Place in the bytes at which the memory's copy begins: each byte is copied about once. */
  #start = 0
  /** Place in the bytes at which the memory's copy ends. */
  #end = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /**
   * @param at the beginning of a number, or of white space before it
   * @returns the place after the comma of the last number that was read, or `at`
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
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(PLAIN_NUMBERS_CODE))
    const memory = exports['memory'] as { readonly buffer: ArrayBuffer }
    return { memory: new Uint8Array(memory.buffer), run: exports['run'] as Code['run'] }
  } catch {
    return null
  }
}
