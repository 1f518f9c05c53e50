export const FRAME_HEAD_BYTES = 4
/** The longest frame: MPEG-1, 320 kbit/s at 32 kHz. */
export const FRAME_BYTES_MAX = 1_441

/** Kilobits a second of layer III by index, for MPEG-1. Index 0 is free format, 15 is invalid. */
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
/** Kilobits a second of layer III by index, for MPEG-2 and 2.5. */
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
/** Samples a second of MPEG-1; MPEG-2 has half, MPEG-2.5 a quarter. */
const RATES = [44_100, 48_000, 32_000, 0]

/** @returns the frame's bytes by its header, or 0 for a header of another kind or without a known length */
export function frameBytes(head: number): number {
  if ((head & 0xffe60000) >>> 0 !== 0xffe20000) return 0
  const version = (head >>> 19) & 3
  const rate = RATES[(head >>> 10) & 3] ?? 0
  const kilobits = (version === 3 ? KILOBITS_1 : KILOBITS_2)[(head >>> 12) & 15] ?? 0
  if (version === 1 || rate === 0 || kilobits === 0 || (head & 3) === 2) return 0
  const padding = (head >>> 9) & 1
  if (version === 3) return Math.floor((144_000 * kilobits) / rate) + padding
  return Math.floor((72_000 * kilobits * (version === 2 ? 2 : 4)) / rate) + padding
}
