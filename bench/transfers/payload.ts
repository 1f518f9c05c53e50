/** What is sent: a WAV file of noise, whose structure is one header, and the form that carries it. */
import { randomFillSync } from 'node:crypto'

const WAV_HEAD_BYTES = 44
const NOISE_BYTES = 1 << 20

/**
 * Mono, 8 kHz, 16 bit. Noise, so that nobody gains by its content; of all accepted types the one whose checks cost
 * least, so that what is measured is the transfer.
 * @param bytes of the whole file; even, at least 46
 */
export function wav(bytes: number): Buffer {
  const file = Buffer.allocUnsafe(bytes)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(bytes - 8, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(8_000, 24)
  file.writeUInt32LE(16_000, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(bytes - WAV_HEAD_BYTES, 40)
  const noise = randomFillSync(Buffer.allocUnsafe(Math.min(NOISE_BYTES, bytes - WAV_HEAD_BYTES)))
  for (let at = WAV_HEAD_BYTES; at < bytes; at += noise.length) noise.copy(file, at)
  return file
}

export const BOUNDARY = 'sluice-bench-7d1f0c52a94e4b0e'

/** Before and after the file in its form. */
export const FORM_HEAD = Buffer.from(
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="noise.wav"\r\ncontent-type: audio/wav\r\n\r\n`,
)
export const FORM_TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
