import { randomFillSync } from 'node:crypto'

const RANDOM_DIGITS = 20
const TIME_DIGITS = 12
/** Random bytes for many ids, drawn at once: one draw costs more than ten ids. */
const pool = Buffer.alloc((RANDOM_DIGITS / 2) * 256)
let digits = ''
let drawn = 0
/** Milliseconds of the last id. */
let lastMs = Number.NaN
/** Hex text of `lastMs`: many ids have the same millisecond. */
let time = ''

/** The prefix, the millisecond in hex, 80 random bits: ids sort by time and cannot be guessed. C9. */
export function nextCallId(prefix: 'emb_' | 'gen_'): string {
  if (drawn === digits.length) {
    digits = randomFillSync(pool).toString('hex')
    drawn = 0
  }
  const now = Date.now()
  if (now !== lastMs) {
    lastMs = now
    time = now.toString(16).padStart(TIME_DIGITS, '0')
  }
  drawn += RANDOM_DIGITS
  return prefix + time + digits.slice(drawn - RANDOM_DIGITS, drawn)
}
