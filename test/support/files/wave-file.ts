/**
 * WAVE files of noise of any size: real structure, which costs a content scanner as little as any type does.
 */
import { randomBytes } from 'node:crypto'

const BLOCK_BYTES = 1_048_576
const WAVE_HEAD_BYTES = 44

/** The content of the files: random once, then the same, so that no server gains by the content. */
const block = randomBytes(BLOCK_BYTES)

/**
 * Some bytes of the file, from an offset on; fewer than up to `to` where a block ends.
 * @param sizeBytes of the whole file; even, and more than 44
 */
export function fileBytes(sizeBytes: number, from: number, to: number): Buffer {
  if (from < WAVE_HEAD_BYTES) return waveHead(sizeBytes).subarray(from, Math.min(to, WAVE_HEAD_BYTES))
  const at = (from - WAVE_HEAD_BYTES) % BLOCK_BYTES
  return block.subarray(at, at + to - from)
}

export function wholeFile(sizeBytes: number): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < sizeBytes; at += pieces.at(-1)?.length ?? 1)
    pieces.push(fileBytes(sizeBytes, at, sizeBytes))
  return Buffer.concat(pieces)
}

/** Mono, 8 kHz, 16 bit. */
function waveHead(sizeBytes: number): Buffer {
  const head = Buffer.alloc(WAVE_HEAD_BYTES)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(sizeBytes - 8, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(16_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(sizeBytes - WAVE_HEAD_BYTES, 40)
  return head
}
