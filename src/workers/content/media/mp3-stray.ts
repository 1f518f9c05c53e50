import type { ByteFeed } from '../byte-feed.ts'
import { FRAME_HEAD_BYTES, frameBytes, headAt, type FreeFormat } from './mp3-frames.ts'
import { isTagLetter, mayBeTag } from './mp3-tags.ts'
import { isFill } from '../trailer.ts'

/*
 * Finds the end of bytes that are neither frame nor tag. They are read in runs: a step of the walk for each
 * byte that may begin a frame or a tag costs fifty times as much, and a file may consist of such bytes alone.
 */

/**
 * @returns the end of the fill after the current byte: the place of other bytes or of a frame. An incomplete
 * header counts as a possible frame
 */
export function endOfFill({ view, at: start, limit }: ByteFeed, free: FreeFormat | null): number {
  const seen = { view, limit, free }
  let at = start + 1
  while (at < limit && isFill(view[at] ?? 0) && !(view[at] === SYNC && isFrame(seen, at))) at++
  return at
}

/**
 * @returns the end of the stray bytes: here a frame counts only if another frame follows, or the file ends
 * after it
 * @param isTagSought false: tags count as stray bytes, too
 */
export function endOfStray(
  { view, at: start, limit }: ByteFeed,
  free: FreeFormat | null,
  isTagSought: boolean,
): number {
  const seen = { view, limit, free }
  for (let at = start + 1; at < limit; at++) {
    const byte = view[at] ?? 0
    if (byte === SYNC && isFrame(seen, at) && isFollowed(seen, at)) return at
    if (isTagLetter(byte) && (limit - at < FRAME_HEAD_BYTES || (isTagSought && mayBeTag(view, at, limit))))
      return at
  }
  return limit
}

const SYNC = 0xff

interface Seen {
  readonly view: Uint8Array
  readonly limit: number
  readonly free: FreeFormat | null
}

function isFrame({ view, limit, free }: Seen, at: number): boolean {
  return limit - at < FRAME_HEAD_BYTES || frameBytes(headAt(view, at), free) > 0
}

function isFollowed(seen: Seen, at: number): boolean {
  if (seen.limit - at < FRAME_HEAD_BYTES) return true
  const behind = at + frameBytes(headAt(seen.view, at), seen.free)
  return behind >= seen.limit || isFrame(seen, behind)
}
