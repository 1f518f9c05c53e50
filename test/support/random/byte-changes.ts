/** Bytes that were changed at random. */

/** A whole number from zero to below `count`. */
export type Below = (count: number) => number

export function belowOf(random: () => number): Below {
  return (count) => Math.floor(random() * count)
}

/**
 * One change: a byte replaced, a range taken out, doubled or replaced by the piece, the end cut off, or the
 * piece put in.
 * @param rangeMax length of the range at most
 */
export function changedBytes(
  bytes: Buffer,
  { piece, rangeMax }: { readonly piece: Buffer; readonly rangeMax: number },
  below: Below,
): Buffer {
  const at = below(bytes.length + 1)
  const to = at + below(1 + Math.min(bytes.length - at, rangeMax))
  const [before, taken, behind] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
  switch (below(6)) {
    case 0:
      return Buffer.concat([before, Buffer.of(below(256)), bytes.subarray(at + 1)])
    case 1:
      return Buffer.concat([before, behind])
    case 2:
      return Buffer.concat([before, taken, taken, behind])
    case 3:
      return Buffer.concat([before, piece, behind])
    case 4:
      return Buffer.from(before)
    default:
      return Buffer.concat([before, piece, bytes.subarray(at)])
  }
}
