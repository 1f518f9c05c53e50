/** What of a prompt has to be the same when it was written in its own dialect, and read again. */
import { isDeepStrictEqual } from 'node:util'
import { PROMPT_WRITERS } from '../../../../src/dialects/writers.ts'
import type { Prompt } from '../../../../src/dialects/prompt/prompt.ts'
import type { WriteTerms } from '../../../../src/dialects/prompt/write-terms.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { Body } from './body-values.ts'
import { PROMPT_READERS } from '../../../../src/dialects/translate.ts'

export const ALL_FORMATS = [
  'openai-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
  'xai-responses-v1',
  'unknown',
]

/** Of an endpoint that takes all that there is. */
export const ALL_TERMS: WriteTerms = {
  upstreamModel: 'claude-opus-4-6',
  tokensMax: null,
  isStrict: false,
  isMaker: false,
  signatureFormats: ALL_FORMATS,
}

/** Places in a body are those of another one after a round trip. */
const NOT_CARRIED: ReadonlySet<string> = new Set(['path', 'others'])
const carriedOf = (prompt: Prompt): unknown =>
  JSON.parse(JSON.stringify(prompt, (name, one: unknown) => (NOT_CARRIED.has(name) ? undefined : one)))

export interface RoundTrip {
  readonly before: unknown
  readonly after: unknown
  readonly isSame: boolean
  /** What the form does not carry. */
  readonly others: readonly string[]
}

export function roundTrip(dialect: Dialect, body: Body): RoundTrip {
  const prompt = PROMPT_READERS[dialect](body)
  const { body: written } = PROMPT_WRITERS[dialect](prompt, ALL_TERMS)
  const [before, after] = [carriedOf(prompt), carriedOf(PROMPT_READERS[dialect](written))]
  // The place of an empty message does not count.
  const others = prompt.others.filter(({ name }) => name !== 'cache_control').map(({ path }) => path)
  return { before, after, isSame: isDeepStrictEqual(before, after), others }
}
