import type { ByteFeed } from '../byte-feed.ts'
import { FRAME_HEAD_BYTES, frameBytes } from './mp3-frames.ts'
import { isTagLetter, mayBeTag } from './mp3-tags.ts'
import { isFill } from '../trailer.ts'

/*
 * Where bytes that are neither frame nor tag end. They are looked at in runs: a step of the walk for each byte that may begin
 * a frame or a tag costs fifty times as much as looking, and a file may hold nothing else.
 */

/**
 * @returns behind the byte that the feed is at, where something else than fill begins, or a frame; what is
 * not all readable may be one
 */
export function endOfFill({ view, at: start, limit }: ByteFeed): number {
  let at = start + 1
  while (at < limit && isFill(view[at] ?? 0) && !(view[at] === SYNC && isFrame(view, at, limit))) at++
  return at
}

/**
 * The same behind a stray byte: there a frame is one only if another follows, or the file ends behind it.
 * @param isTagSought false: tags are stray bytes, too
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

/** Whether a frame is here, or may be. */
function isFrame(view: Uint8Array, at: number, limit: number): boolean {
  return limit - at < FRAME_HEAD_BYTES || frameBytes(u32be(view, at)) > 0
}

/** Whether one stands behind the frame here, or may. */
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
