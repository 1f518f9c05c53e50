/**
 * Memory in which pieces are put together that are used in the same step: nothing of it is valid later. The
 * views of its first bytes are kept by their length, since a view costs a hundred bytes of garbage.
 */
export class Desk {
  readonly bytes: Buffer
  /** By their length. */
  readonly #views: (Uint8Array | undefined)[]

  /** @param viewsMax bytes of the longest view that is kept */
  constructor(bytes: number, viewsMax: number) {
    this.bytes = Buffer.alloc(bytes)
    this.#views = new Array<undefined>(viewsMax + 1).fill(undefined)
  }

  view(length: number): Uint8Array {
    return this.#views[length] ?? this.#newView(length)
  }

  /** @returns the position behind the text; -1 when it is not ASCII, has no room, or `at` is -1 */
  ascii(text: string, at: number): number {
    const { bytes } = this
    const end = at + text.length
    if (at < 0 || end > bytes.length) return -1
    for (let nth = 0; nth < text.length; nth++) {
      const code = text.charCodeAt(nth)
      if (code > ASCII_MAX) return -1
      bytes[at + nth] = code
    }
    return end
  }

  #newView(length: number): Uint8Array {
    const view = new Uint8Array(this.bytes.buffer, this.bytes.byteOffset, length)
    if (length < this.#views.length) this.#views[length] = view
    return view
  }
}

const ASCII_MAX = 0x7f
