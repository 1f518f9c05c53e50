/** A box of an MP4 file. Source: ISO/IEC 14496-12 §4.2. */
export interface Box {
  readonly type: string
  readonly contents: Uint8Array
}

const HEAD_BYTES = 8

/** The consecutive boxes in some bytes. */
export function* boxesOf(bytes: Uint8Array): Generator<Box> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const size = view.getUint32(at)
    if (size < HEAD_BYTES || at + size > bytes.length)
      throw new RangeError('an MP4 box extends beyond the end of its file')
    yield {
      type: String.fromCharCode(...bytes.subarray(at + 4, at + 8)),
      contents: bytes.subarray(at + HEAD_BYTES, at + size),
    }
    at += size
  }
}

/** Contents of the box at a path of types. */
export function inside(bytes: Uint8Array, ...path: readonly string[]): Uint8Array {
  return path.reduce((outer, wanted) => {
    for (const { type, contents } of boxesOf(outer)) if (type === wanted) return contents
    throw new RangeError(`missing MP4 box ${wanted}`)
  }, bytes)
}

/** Bytes unchanged, or numbers of 32 bits. */
type Part = Uint8Array | number

export function box(type: string, ...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce<number>(
    (sum, part) => sum + (typeof part === 'number' ? 4 : part.length),
    HEAD_BYTES,
  )
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, length)
  bytes.set(ascii(type), 4)
  let at = HEAD_BYTES
  for (const part of parts) {
    if (typeof part === 'number') view.setUint32(at, part)
    else bytes.set(part, at)
    at += typeof part === 'number' ? 4 : part.length
  }
  return bytes
}

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
