import { closeSync, openSync, readSync } from 'node:fs'
import { recordAt } from './records.ts'
import type { SegmentPlace, PlacedEntry } from './segment-writer.ts'

/** Bytes that are read at once on the loop: about a thousand calls. */
const PIECE_BYTES = 256 * 1_024

/**
 * Entries of a segment after an offset, as many as one piece holds, with the offset after the last record
 * read. Null when they cannot be read: a front that cannot read its own writes has lost its disk.
 */
export function entriesBehind(
  place: SegmentPlace & { readonly end: number },
  from: number,
): { entries: readonly PlacedEntry[]; to: number } | null {
  const bytes = readPiece(place, from)
  const entries: PlacedEntry[] = []
  let at = 0
  while (bytes !== null && at < bytes.length) {
    const found = recordAt(bytes, at)
    if (found.kind === 'damaged') return null
    if (found.kind === 'cut') break
    at += found.bytes
    if ('entry' in found.record) entries.push({ entry: found.record.entry, end: from + at })
  }
  return at === 0 ? null : { entries, to: from + at }
}

function readPiece(
  { path, headBytes, base, end }: SegmentPlace & { readonly end: number },
  from: number,
): Buffer | null {
  const bytes = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - from))
  try {
    const file = openSync(path, 'r')
    try {
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, headBytes + from - base))
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}
