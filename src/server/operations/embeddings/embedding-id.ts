import { randomFillSync } from 'node:crypto'

const RANDOM_BYTES = 10
const TIME_DIGITS = 12
/** Random bytes are drawn for many ids at once: one draw costs more than ten ids. */
const pool = Buffer.alloc(RANDOM_BYTES * 256)
let drawn = pool.length

/** `emb_`, the millisecond in hex, 80 random bits: sortable by time and not to be guessed. C9. */
export function nextEmbeddingId(): string {
  if (drawn === pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  const random = pool.toString('hex', drawn, drawn + RANDOM_BYTES)
  drawn += RANDOM_BYTES
  return `emb_${Date.now().toString(16).padStart(TIME_DIGITS, '0')}${random}`
}
