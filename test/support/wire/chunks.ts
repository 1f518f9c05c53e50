/** Cuts bytes into pieces of these sizes, again and again; each is a copy of its own. */
export function chunks(bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0, nth = 0; at < bytes.length; nth++) {
    const end = at + Math.max(1, sizes[nth % sizes.length] ?? bytes.length)
    pieces.push(new Uint8Array(bytes.subarray(at, end)))
    at = end
  }
  return pieces
}
