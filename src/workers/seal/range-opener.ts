import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { Opener, RangePlan } from './opener.ts'

/** Opens the pieces of a range as storage delivers them, wherever they are cut. */
export interface RangeOpener {
  /** The bytes of the object to read from storage: from `plan.from` to `plan.to`, without the byte at `plan.to`. */
  readonly plan: RangePlan
  /**
   * @param piece the next bytes of the object; not kept after the call
   * @returns plain bytes of the range, all of them verified; or `content_damaged`, after which the caller
   * discards the opener and resets the reply. Plain bytes may be views of larger buffers.
   */
  push(piece: Uint8Array): Outcome<readonly Uint8Array[]>
  /** True after the whole range was returned: an earlier end of the pieces is a truncation. */
  readonly isComplete: boolean
}

/** @param start first plain byte @param end the byte after the last */
export function openRange(opener: Opener, start: number, end: number): RangeOpener {
  const plan = opener.openRange(start, end)
  let index = plan.firstSegment
  let skipBytes = plan.skipBytes
  let leftBytes = plan.plainBytes
  // A segment whose bytes come in several pieces.
  let partial: Buffer | null = null
  let partialBytes = 0
  const openNext = (bytes: Uint8Array, to: Uint8Array[]): Outcome<null> => {
    const opened = opener.openSegment(index, bytes)
    if (!opened.ok) return opened
    index++
    const wanted = opened.value.subarray(skipBytes, skipBytes + leftBytes)
    skipBytes = 0
    leftBytes -= wanted.length
    if (wanted.length > 0) to.push(wanted)
    return ok(null)
  }
  return {
    plan,
    get isComplete() {
      return index > plan.lastSegment
    },
    push(piece) {
      const plain: Uint8Array[] = []
      for (let at = 0; at < piece.length;) {
        if (index > plan.lastSegment)
          return fail('content_damaged', { cause: new Error('storage returned more bytes than requested') })
        const whole = opener.sealedBytesOf(index)
        if (partial === null && piece.length - at >= whole) {
          const opened = openNext(piece.subarray(at, at + whole), plain)
          if (!opened.ok) return opened
          at += whole
          continue
        }
        partial ??= Buffer.allocUnsafe(whole)
        const taken = Math.min(whole - partialBytes, piece.length - at)
        partial.set(piece.subarray(at, at + taken), partialBytes)
        partialBytes += taken
        at += taken
        if (partialBytes < whole) break
        const opened = openNext(partial, plain)
        if (!opened.ok) return opened
        partial = null
        partialBytes = 0
      }
      return ok(plain)
    },
  }
}
