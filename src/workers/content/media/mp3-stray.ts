import type { ByteFeed } from '../byte-feed.ts'
import { FRAME_HEAD_BYTES, frameBytes } from './mp3-frames.ts'
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
export function endOfFill({ view, at: start, limit }: ByteFeed): number {
  let at = start + 1
  while (at < limit && isFill(view[at] ?? 0) && !(view[at] === SYNC && isFrame(view, at, limit))) at++
  return at
}

/**
 * @returns the end of the stray bytes: here a frame counts only if another frame follows, or the file ends
 * after it
 * @param isTagSought false: tags count as stray bytes, too
 */
export function endOfStray({ view, at: start, limit }: ByteFeed, isTagSought: boolean): number {
  for (let at = start + 1; at < limit; at++) {
    const byte = view[at] ?? 0
    if (byte === SYNC && isFrame(view, at, limit) && isFollowed(view, at, limit)) return at
    if (isTagLetter(byte) && (limit - at < FRAME_HEAD_BYTES || (isTagSought && mayBeTag(view, at, limit))))
      return at
  }
  return limit
}

const SYNC = 0xff

/** Whether there is a frame here, or may be. */
function isFrame(view: Uint8Array, at: number, limit: number): boolean {
  return limit - at < FRAME_HEAD_BYTES || frameBytes(u32be(view, at)) > 0
}

/** Whether a frame follows the frame here, or may follow. */
function isFollowed(view: Uint8Array, at: number, limit: number): boolean {
  if (limit - at < FRAME_HEAD_BYTES) return true
  const behind = at + frameBytes(u32be(view, at))
  return behind >= limit || isFrame(view, behind, limit)
}

function u32be(view: Uint8Array, at: number): number {
  return (
    (((view[at] ?? 0) << 24) |
      ((view[at + 1] ?? 0) << 16) |
      ((view[at + 2] ?? 0) << 8) |
      (view[at + 3] ?? 0)) >>>
    0
  )
}
