/** Boxes of an MP4, empty of meaning. */

export function box(type: string, bodyBytes: number): Buffer {
  const bytes = Buffer.alloc(8 + bodyBytes, type)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.write(type, 4, 'latin1')
  return bytes
}

/** Bytes that pass for a clip by their outermost boxes. */
export const CLIP: Buffer = Buffer.concat([
  box('ftyp', 16),
  box('moov', 40),
  box('free', 0),
  box('mdat', 300),
])
