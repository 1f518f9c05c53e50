import { randomFillSync } from 'node:crypto'

const RANDOM_DIGITS = 20
const TIME_DIGITS = 12
/** Random bytes are drawn for many ids at once: one draw costs more than ten ids. */
const pool = Buffer.alloc((RANDOM_DIGITS / 2) * 256)
let digits = ''
let drawn = 0
/** Of the last id, and how it is written: many ids are of one millisecond. */
let lastMs = Number.NaN
let time = ''

/** `emb_`, the millisecond in hex, 80 random bits: sortable by time and not to be guessed. C9. */
export function nextEmbeddingId(): string {
  if (drawn === digits.length) {
    digits = randomFillSync(pool).toString('hex')
    drawn = 0
  }
  const now = Date.now()
  if (now !== lastMs) {
    lastMs = now
    time = `emb_${now.toString(16).padStart(TIME_DIGITS, '0')}`
  }
  drawn += RANDOM_DIGITS
  return time + digits.slice(drawn - RANDOM_DIGITS, drawn)
}
