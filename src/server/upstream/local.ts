import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import {
  LEXICAL_CALLS_MAX,
  LEXICAL_DIMENSIONS_DEFAULT,
  LEXICAL_DIMENSIONS_MAX,
  LEXICAL_INPUT_BYTES_MAX,
  LEXICAL_NUMBERS_MAX,
  LEXICAL_SLICE_NUMBERS,
  LEXICAL_SLICE_UNITS,
  LEXICAL_TEXT_UNITS_MAX,
} from '../../schemas/limits.ts'
import type { Egress } from '../ports/egress.ts'
import type { EmbeddingInput } from '../../schemas/embeddings.ts'
import type { EmbeddingsRequest } from '../ports/embeddings.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import { bulkOf, valueOf, type InputShape } from './input-shape.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading } from './protocol.ts'

/**
 * `sluice/lexical-1`: needs no key and no network. It is lexical, not semantic: texts that share wording come out
 * close, synonyms do not. Computed in the short-job pool, slice by slice, so that others get their turn. Design §10.
 */
export class LexicalEmbeddings implements EmbeddingProtocol {
  readonly #jobs: ShortJobs
  readonly #egress: Pick<Egress, 'hold'>
  #calls = 0

  constructor(jobs: ShortJobs, egress: Pick<Egress, 'hold'>) {
    this.#jobs = jobs
    this.#egress = egress
  }

  takes(shape: InputShape): boolean {
    return shape.kind !== 'numbers' && shape.kind !== 'lists'
  }

  /** Failures: body_invalid, busy, and what the pool of short jobs fails with. */
  async embed({ request, shape, call }: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const dimensions = request.dimensions ?? LEXICAL_DIMENSIONS_DEFAULT
    if (dimensions > LEXICAL_DIMENSIONS_MAX) return tooMuch('/dimensions', LEXICAL_DIMENSIONS_MAX)
    const countMax = Math.floor(LEXICAL_NUMBERS_MAX / dimensions)
    if (shape.count > countMax) return tooMuch('/input', countMax, ' inputs of so many dimensions')
    const texts = textsOf(request)
    if (texts === null) return tooMuch('/input', LEXICAL_INPUT_BYTES_MAX, ' bytes')
    if (!isText(texts)) return fail('input_unsupported', { detail: 'It takes parts of type text only.' })
    const long = texts.findIndex((text) => text.length > LEXICAL_TEXT_UNITS_MAX)
    if (long !== -1) return tooMuch(pathOf(request, long), LEXICAL_TEXT_UNITS_MAX, ' UTF-16 units')
    if (this.#calls >= LEXICAL_CALLS_MAX) return fail('busy', { retryAfterS: 1 })
    this.#calls++
    try {
      return await this.#inSlices(texts, dimensions, { request, signal: call.signal })
    } finally {
      this.#calls--
    }
  }

  async #inSlices(
    texts: readonly string[],
    dimensions: number,
    { request, signal }: { readonly request: EmbeddingsRequest; readonly signal: AbortSignal },
  ): Promise<Outcome<Reading>> {
    const encoding = request.encoding_format ?? 'float'
    const data: Uint8Array[] = []
    const held: (() => void)[] = []
    const release = (): void => held.splice(0).forEach((give) => give())
    let tokens = 0
    for (let from = 0; from < texts.length;) {
      const slice = texts.slice(from, endOfSlice(texts, from, dimensions))
      const input = { texts: slice, firstIndex: from, dimensions, encoding }
      const outcome = await this.#jobs.run('embed_lexical', input, { signal })
      const give = outcome.ok ? this.#egress.hold(outcome.value.data.length) : null
      if (!outcome.ok || give === null) {
        release()
        return outcome.ok ? fail('busy', { retryAfterS: 1 }) : outcome
      }
      held.push(give)
      from += slice.length
      tokens += outcome.value.tokens
      addTo(data, outcome.value.data)
    }
    return ok({ data, promptTokens: tokens, totalTokens: tokens, release })
  }
}

/** `takes` has let no tokens through. Null when there is too much; an element is null when it has other parts than text. */
function textsOf({ input }: EmbeddingsRequest): readonly (string | null)[] | null {
  const bulk = bulkOf(input)
  if (bulk !== null && bulk.length > LEXICAL_INPUT_BYTES_MAX) return null
  const value = bulk === null ? valueOf(input) : (JSON.parse(Buffer.from(bulk).toString()) as Exclude<EmbeddingInput, number[]>)
  if (typeof value === 'string') return [value]
  return value === null ? [] : value.map(textOf)
}

/** The parts of one input are one text. */
function textOf(input: EmbeddingInput[number]): string | null {
  if (typeof input === 'string') return input
  if (typeof input === 'number' || !('content' in input)) return null
  const texts = input.content.map((part) => (part.type === 'text' ? part.text : null))
  return isText(texts) ? texts.join('\n') : null
}

function isText(texts: readonly (string | null)[]): texts is readonly string[] {
  return !texts.includes(null)
}

/** As many texts as one job may hold the thread with, at least one. */
function endOfSlice(texts: readonly string[], from: number, dimensions: number): number {
  const endMax = from + Math.max(1, Math.floor(LEXICAL_SLICE_NUMBERS / dimensions))
  let end = from
  let units = 0
  do units += texts[end++]?.length ?? 0
  while (end < Math.min(endMax, texts.length) && units + (texts[end]?.length ?? 0) <= LEXICAL_SLICE_UNITS)
  return end
}

const COMMA = Buffer.from(',')

/** Joins lists by taking the bracket between them away. */
function addTo(parts: Uint8Array[], list: Uint8Array): void {
  const last = parts.pop()
  if (last === undefined) parts.push(list)
  else parts.push(last.subarray(0, -1), COMMA, list.subarray(1))
}

function pathOf({ input }: EmbeddingsRequest, index: number): string {
  return typeof input === 'string' ? '/input' : `/input/${index}`
}

function tooMuch(path: string, most: number, unit = ''): Outcome<Reading> {
  const issue = { path, message: 'more than this model takes', expected: `at most ${most}${unit}` }
  return fail('body_invalid', { metadata: { issues: [issue] } })
}
