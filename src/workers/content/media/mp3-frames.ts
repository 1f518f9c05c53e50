export const FRAME_HEAD_BYTES = 4
/** The longest frame: MPEG-1 in free format, 640 kbit/s at 32 kHz. */
export const FRAME_BYTES_MAX = 2_881

/** Kilobits a second of layer III by index, for MPEG-1. Index 0 is free format, 15 is invalid. */
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
/** Kilobits a second of layer III by index, for MPEG-2 and 2.5. */
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
/** Samples a second of MPEG-1; MPEG-2 has half, MPEG-2.5 a quarter. */
const RATES = [44_100, 48_000, 32_000, 0]

/** Frames of free format: their headers state no bit rate, so their length is the distance between two. */
export interface FreeFormat {
  readonly head: number
  /** Bytes of a frame without its padding. */
  readonly bytes: number
}

/** The shortest frame of free format: MPEG-1, 8 kbit/s at 48 kHz. */
const FREE_BYTES_MIN = 24
/** The bits of a header in which frames of free format agree: not padding, channels and what follows these. */
const FREE_MASK = 0xfffffc00

/**
 * @param free the free format of the file, or null
 * @returns the frame's bytes by its header, or 0 for a header of another kind or without a known length
 */
export function frameBytes(head: number, free: FreeFormat | null): number {
  if (!isLayer3(head)) return 0
  const version = (head >>> 19) & 3
  const rate = RATES[(head >>> 10) & 3] ?? 0
  const kilobits = (version === 3 ? KILOBITS_1 : KILOBITS_2)[(head >>> 12) & 15] ?? 0
  const padding = (head >>> 9) & 1
  if (free !== null && isAlike(head, free.head)) return free.bytes + padding
  if (kilobits === 0) return 0
  if (version === 3) return Math.floor((144_000 * kilobits) / rate) + padding
  return Math.floor((72_000 * kilobits * (version === 2 ? 2 : 4)) / rate) + padding
}

/** The free format of a frame that begins here, if two further headers follow at its distance; else null. */
export function freeFormat(view: Uint8Array, at: number, limit: number): FreeFormat | null {
  const head = headAt(view, at)
  if (!isLayer3(head) || ((head >>> 12) & 15) !== 0) return null
  const last = Math.min(at + FRAME_BYTES_MAX, limit - FRAME_HEAD_BYTES)
  for (let next = at + FREE_BYTES_MIN; next <= last; next++) {
    const second = view[next] === 0xff ? headAt(view, next) : 0
    if (!isAlike(second, head)) continue
    const free = { head, bytes: next - at - ((head >>> 9) & 1) }
    const third = next + frameBytes(second, free)
    if (third + FRAME_HEAD_BYTES <= limit && isAlike(headAt(view, third), head)) return free
  }
  return null
}

/** The four bytes of a header as one number. */
export function headAt(view: Uint8Array, at: number): number {
  return (
    (((view[at] ?? 0) << 24) |
      ((view[at + 1] ?? 0) << 16) |
      ((view[at + 2] ?? 0) << 8) |
      (view[at + 3] ?? 0)) >>>
    0
  )
}

function isLayer3(head: number): boolean {
  const isSynchronous = (head & 0xffe60000) >>> 0 === 0xffe20000
  return isSynchronous && ((head >>> 19) & 3) !== 1 && ((head >>> 10) & 3) !== 3 && (head & 3) !== 2
}

function isAlike(head: number, other: number): boolean {
  return (head & FREE_MASK) === (other & FREE_MASK)
}
