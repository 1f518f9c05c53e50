import type { VectorEncoding } from '../server/ports/short-jobs.ts'

const FLOAT32_BYTES = 4

/** The largest finite float32: a larger number would become Infinity in base64. */
const FLOAT32_MAX = 3.4028234663852886e38

/** Reads one vector in either form; null for an invalid one: empty, not finite, or not whole float32 numbers. */
export function readVector(value: unknown): readonly number[] | null {
  if (typeof value === 'string') return fromBase64(value)
  if (!Array.isArray(value) || value.length === 0) return null
  for (const number of value as readonly unknown[]) {
    if (typeof number !== 'number' || !(Math.abs(number) <= FLOAT32_MAX)) return null
  }
  return value as readonly number[]
}

/** JSON of the `data` array of an embeddings answer, or of the part of it that begins with an index. */
export function writeData(
  vectors: readonly (readonly number[])[],
  encoding: VectorEncoding,
  firstIndex = 0,
): Uint8Array<ArrayBuffer> {
  const items = vectors.map((vector, at) => {
    const written = encoding === 'base64' ? `"${toBase64(vector)}"` : JSON.stringify(vector)
    return `{"object":"embedding","index":${firstIndex + at},"embedding":${written}}`
  })
  return new TextEncoder().encode(`[${items.join(',')}]`)
}

/** Little-endian, the byte order of every processor that Node supports here. */
function toBase64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64')
}

function fromBase64(text: string): readonly number[] | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % FLOAT32_BYTES !== 0) return null
  // Node skips characters that are not base64: the decoded bytes would be fewer than the text stands for.
  if (Math.floor(text.replace(/=+$/, '').length * 0.75) !== bytes.length) return null
  const numbers = Array.from({ length: bytes.length / FLOAT32_BYTES }, (_, at) =>
    bytes.readFloatLE(at * FLOAT32_BYTES),
  )
  return numbers.every(Number.isFinite) ? numbers : null
}
