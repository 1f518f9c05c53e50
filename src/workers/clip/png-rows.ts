/** A stored row, the decoded row above, and the bytes from a pixel to its neighbor. */
interface Row {
  readonly row: Uint8Array
  readonly before: Uint8Array
  readonly step: number
}

/** Undoes a filter of PNG in place; false for an unknown filter. */
export function unfilter(filter: number, { row, before, step }: Row): boolean {
  if (filter === 0) return true
  if (filter === 1) for (let at = step; at < row.length; at++) row[at] = of(row, at) + of(row, at - step)
  else if (filter === 2) for (let at = 0; at < row.length; at++) row[at] = of(row, at) + of(before, at)
  else if (filter === 3)
    for (let at = 0; at < row.length; at++)
      row[at] = of(row, at) + ((of(row, at - step) + of(before, at)) >> 1)
  else if (filter === 4)
    for (let at = 0; at < row.length; at++)
      row[at] = of(row, at) + nearest(of(row, at - step), of(before, at), of(before, at - step))
  else return false
  return true
}

/** All is 0 outside of a row. */
function of(row: Uint8Array, at: number): number {
  return at < 0 ? 0 : (row[at] ?? 0)
}

/** The neighbor that is closest to left + above - corner, in this order. */
function nearest(left: number, above: number, corner: number): number {
  const [toLeft, toAbove, toCorner] = [
    Math.abs(above - corner),
    Math.abs(left - corner),
    Math.abs(left + above - 2 * corner),
  ]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}
