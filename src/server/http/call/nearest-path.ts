import { editDistance } from '../../../schemas/nearest.ts'

/** Mistakes that a path may contain and still be recognized. Decision. */
const PATH_MISTAKES_MAX = 4
/** Letters of a segment for each mistake in it. Decision. */
const LETTERS_PER_MISTAKE = 3
/** Segments of a client's path that are compared. Decision. */
const COMPARED_SEGMENTS_MAX = 8
/** Characters of a client's path that are compared. Decision. */
const COMPARED_CHARS_MAX = 160

/**
 * The path of an operation that a client may have meant; null when none is near. C39.
 * @param paths as in OpenAPI, with their prefix
 */
export function nearestPath(requested: string, paths: Iterable<string>): string | null {
  const given = requested
    .slice(0, COMPARED_CHARS_MAX)
    .toLowerCase()
    .replace(/\/+/g, '/')
    .replace(/\/$/, '')
    .split('/')
    .slice(0, COMPARED_SEGMENTS_MAX)
  let [best, least]: [string | null, number] = [null, PATH_MISTAKES_MAX + 1]
  for (const path of paths) {
    const distance = distanceOf(given, path.split('/'), least - 1)
    if (distance >= least) continue
    best = path
    least = distance
  }
  return best
}

/** A parameter matches any segment; a missing version or prefix costs two. */
function distanceOf(given: readonly string[], path: readonly string[], most: number): number {
  if (given.length === path.length) return between(given, path, most)
  // `/embeddings` and `/v1/embeddings` for `/api/v1/embeddings`.
  const missing = path.length - given.length
  if (missing !== 1 && missing !== 2) return most + 1
  return 2 + between(given.slice(1), path.slice(1 + missing), most - 2)
}

function between(given: readonly string[], path: readonly string[], most: number): number {
  // A path of parameters alone would match everything.
  if (!path.some((segment) => segment !== '' && !segment.startsWith('{'))) return most + 1
  let distance = 0
  for (const [at, segment] of path.entries()) {
    const text = given[at] ?? ''
    if (segment.startsWith('{') && text !== '') continue
    // With more mistakes than a third of its letters a segment is another word.
    const allowed = Math.min(most - distance, Math.max(1, Math.floor(segment.length / LETTERS_PER_MISTAKE)))
    const mistakes = editDistance(text, segment, Math.max(0, allowed))
    if (mistakes > allowed) return most + 1
    distance += mistakes
  }
  return distance
}
