import { scanMemory } from '../../../src/workers/scan-memory.ts'
import type { Random } from './random-answers.ts'

export const pick = (random: Random, from: readonly string[]): string =>
  from[Math.floor(random() * from.length)] ?? ''

const digits = (random: Random, most: number): string =>
  String(Math.floor(random() * 1e17))
    .padStart(17, '0')
    .slice(0, 1 + random() * most)

/** A number as embeddings have it: the vectors read it. */
export function plainNumber(random: Random): string {
  return `${pick(random, ['', '-'])}${digits(random, 1)}.${digits(random, 17)}`
}

/** Forty numbers or more, each followed by something else. */
export const numberText = (
  random: Random,
  write: (random: Random) => string,
  between: readonly string[],
): string => Array.from({ length: 40 + random() * 400 }, () => write(random) + pick(random, between)).join('')

/** The same bytes where the code reads them without a copy, followed by something else. */
export function inScanMemory(bytes: Uint8Array, at = 0): Buffer {
  const memory = scanMemory()
  memory.set(bytes, at)
  memory.fill(0x2c, at + bytes.length, at + bytes.length + 128)
  return Buffer.from(memory.buffer, memory.byteOffset + at, bytes.length)
}
