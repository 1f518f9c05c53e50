import { randomBytes } from 'node:crypto'
import type { ContentPlace, NamedContents } from '../../../../dialects/prompt/inline-contents.ts'
import type { InlineFile } from '../../../ports/inference/inference.ts'
import type { RequestPiece } from '../protocol.ts'
import type { FetchedMedium } from './call-media.ts'
import type { ContentSource } from './file-edits.ts'

/** Bytes of a mark, enough that it cannot be guessed. */
const MARK_BYTES = 16

export interface CallContents {
  readonly named: NamedContents
  /** In the order of the list. */
  readonly sources: readonly ContentSource[]
}

/** @returns null when the call names no content */
export function contentsOf(
  files: readonly InlineFile[] = [],
  media: readonly FetchedMedium[] = [],
): CallContents | null {
  if (files.length + media.length === 0) return null
  const named = [
    ...files.map((file) => [file.id, file] as const),
    ...media.map((one) => [one.url, one] as const),
  ]
  const sources = new Map<string, InlineFile | FetchedMedium>(named)
  const list = [...sources].map(([name, { mimeType, filename }]) => ({ name, mimeType, filename }))
  return {
    named: { mark: randomBytes(MARK_BYTES).toString('hex'), list },
    sources: [...sources.values()],
  }
}

/** A written request with the contents in their places. */
export function withHoles(
  body: Uint8Array,
  places: readonly ContentPlace[],
  { sources }: Pick<CallContents, 'sources'>,
): readonly RequestPiece[] {
  const pieces: RequestPiece[] = []
  let from = 0
  for (const { start, end, nth, isText } of places) {
    const file = sources[nth]
    if (file === undefined) throw new Error('a file reference in the request has no content')
    pieces.push(body.subarray(from, start), { file, form: isText ? 'text' : 'file' })
    from = end
  }
  pieces.push(body.subarray(from))
  return pieces
}
