/** The buffer of the bytes, when it contains only these bytes: a short job then gets it without a copy. */
export function movable(bytes: Uint8Array): readonly ArrayBuffer[] {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? [buffer] : []
}
