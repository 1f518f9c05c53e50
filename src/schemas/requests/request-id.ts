/** Request ids that Sluice makes: a prefix of one process, and a number in it. C12. */

/** Characters of the prefix. */
const PREFIX_CHARS = 12
/** Characters of the number. */
const NUMBER_CHARS = 8
const RADIX = 36
const OWN = new RegExp(`^[0-9a-z]{${PREFIX_CHARS + NUMBER_CHARS}}$`)

/** The id of a number; both parts are `[0-9a-z]`. */
export function ownRequestId(prefix: string, number: number): string {
  return prefix + number.toString(RADIX).padStart(NUMBER_CHARS, '0')
}

/** A prefix of random bits: 60 of 64. */
export function requestIdPrefix(bits: bigint): string {
  return bits.toString(RADIX).padStart(PREFIX_CHARS, '0')
}

/** Whether an id has the form of those that Sluice makes. Callers may choose such ones too. */
export function isOwnRequestId(id: string): boolean {
  return id.length === PREFIX_CHARS + NUMBER_CHARS && OWN.test(id)
}

/** The prefix of such an id. */
export function prefixOfRequestId(id: string): string {
  return id.slice(0, PREFIX_CHARS)
}

/** The number of such an id. */
export function numberOfRequestId(id: string): number {
  return Number.parseInt(id.slice(PREFIX_CHARS), RADIX)
}
