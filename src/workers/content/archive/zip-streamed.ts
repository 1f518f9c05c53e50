import { more, type ByteFeed } from '../byte-feed.ts'
import type { PackedPart } from './ooxml.ts'

/** The forms of a descriptor: with or without a signature, with sizes of 32 or 64 bits. */
const FORMS = [
  { bytes: 16, sizeAt: 8, isSigned: true },
  { bytes: 24, sizeAt: 8, isSigned: true },
  { bytes: 12, sizeAt: 4, isSigned: false },
  { bytes: 20, sizeAt: 4, isSigned: false },
] as const
const SIGNATURE = 0x08074b50
const SHORTEST = 12
const LONGEST = 24

/**
 * Skips an entry whose header does not state its length, as programs write that write to a stream. The entry
 * ends before a header that follows a descriptor with exactly the number of bytes so far; the directory must
 * state the same number later. Null: the file ends before that.
 * @param part takes the compressed bytes
 * @returns the number of compressed bytes
 */
export function* passStreamed(feed: ByteFeed, part: PackedPart | null): Generator<void, number | null> {
  const start = feed.offset
  // Bytes after `feed.at` from which the search continues. A possible descriptor stays in the view until
  // then.
  let from = SHORTEST
  for (;;) {
    if (!feed.has(from + 4) && !(yield* more(feed, from + 4))) return null
    for (let at = nextHeader(feed, feed.at + from); at >= 0; at = nextHeader(feed, at + 1)) {
      const length = descriptorBytes(feed, at, start)
      if (length === 0) continue
      part?.add(feed.view.subarray(feed.at, at - length))
      const packedBytes = feed.offset + (at - feed.at) - length - start
      feed.at = at
      return packedBytes
    }
    const searched = feed.limit - 3
    const kept = Math.max(feed.at, searched - LONGEST)
    part?.add(feed.view.subarray(feed.at, kept))
    feed.at = kept
    from = searched - kept
  }
}

/** The next place from `at` on where an entry or the directory may begin, or -1. */
function nextHeader(feed: ByteFeed, at: number): number {
  const { view } = feed
  const end = feed.limit - 3
  for (let i = at; i < end; i++) {
    if (view[i] !== 0x50 || view[i + 1] !== 0x4b) continue
    const kind = ((view[i + 2] ?? 0) << 8) | (view[i + 3] ?? 0)
    if (kind === 0x0304 || kind === 0x0102) return i
  }
  return -1
}

/** @returns the bytes of the descriptor that ends before `at`, or 0 */
function descriptorBytes(feed: ByteFeed, at: number, start: number): number {
  const since = feed.offset + (at - feed.at) - start
  const [short, long] = [feed.u32le(at - feed.at - 8), feed.u32le(at - feed.at - 16)]
  if (short + 12 !== since && short + 16 !== since && long + 20 !== since && long + 24 !== since) return 0
  for (const { bytes, sizeAt, isSigned } of FORMS) {
    if (since < bytes) continue
    const first = at - bytes - feed.at
    if (isSigned && feed.u32le(first) !== SIGNATURE) continue
    const size = bytes === 16 || bytes === 12 ? feed.u32le(first + sizeAt) : feed.u64le(first + sizeAt)
    if (size === since - bytes) return bytes
  }
  return 0
}
