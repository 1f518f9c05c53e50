/** Numbers as people write them, for descriptions and messages. */

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const
const UNIT_BYTES = 1_024

/** `10,000`. */
export function readableCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** `32 MiB`; in bytes if the number is not a multiple of a larger unit. */
export function readableBytes(bytes: number): string {
  let [amount, at] = [bytes, 0]
  while (amount >= UNIT_BYTES && amount % UNIT_BYTES === 0 && at < UNITS.length - 1) {
    amount /= UNIT_BYTES
    at += 1
  }
  return `${readableCount(amount)} ${UNITS[at] ?? ''}`
}
