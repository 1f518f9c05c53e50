import { ok, type Failure } from '../../schemas/failures.ts'
import { type Members, membersOf, objectOf } from '../../schemas/values/members.ts'
import type { MediaFigures } from '../../schemas/money/costs.ts'
import { INVALID } from '../native-events.ts'
import { NO_ANSWER, CLEANED_LATER, parsed, PartEvents, type ReadLarge } from '../part-events.ts'
import type { FailureOf, FinishReason, TokenUsage, WholeParts, WholeRead, WrittenPart } from '../parts.ts'
import { MadeCallIds } from '../part-queue.ts'
import { SIGNATURE_FORMATS } from '../prompt/signatures.ts'
import { writtenJson } from '../walk/written-json.ts'
import { countOf, withMedia } from '../usage.ts'

/** The most characters of an id and of a finish reason; longer ones are not kept. */
const WORD_CHARS_MAX = 256

interface GeminiTerms {
  readonly readLarge?: ReadLarge | undefined
  readonly tier?: string | null | undefined
}

type Finish = Extract<WrittenPart, { readonly kind: 'finish' }>

/**
 * The stream of `streamGenerateContent?alt=sse`. It has no last event: it ends with the body, and must have
 * reported a finish reason. Some servers send the reason in each chunk, so only the last one counts.
 */
export class GeminiPartStream extends PartEvents {
  readonly #ids = new MadeCallIds()
  /** Null: the answer has not ended. */
  #finish: Finish | null = null
  #calls = 0
  #blocked: string | undefined
  #usage: TokenUsage | null = null

  /** @param readLarge as in `PartEvents` @param tier as the headers of the answer report it; null: not reported */
  constructor(failureOf: FailureOf, { readLarge, tier }: GeminiTerms = {}) {
    super(failureOf, readLarge)
    this.report({ service_tier: tier })
  }

  /** The usage of the last chunk that has one; null when there is no usage, it is not numeric, or it reports zero output although output was sent. */
  get usage(): TokenUsage | null {
    const usage = this.#usage
    return usage !== null && this.hasOutput && usage.output + usage.reasoning === 0 ? null : usage
  }

  get blocked(): string | undefined {
    return this.hasOutput ? undefined : this.#blocked
  }

  get finalParts(): readonly WrittenPart[] {
    return this.#finish === null ? [] : [this.#finish]
  }

  protected override get isWhole(): boolean {
    return this.#finish !== null
  }

  protected override take(chunk: Members): Failure | 'failed' | null {
    const { error, responseId, usageMetadata, candidates, promptFeedback } = chunk
    if (isThere(error)) return 'failed'
    if (isWord(responseId)) this.upstreamId ??= responseId
    if (isThere(usageMetadata)) this.#usage = geminiUsageOf(usageMetadata)
    const blocked = objectOf(promptFeedback)?.['blockReason']
    if (isWord(blocked)) {
      this.#blocked = blocked
      this.#ended('content_filter', blocked)
    }
    if (!isThere(candidates)) return null
    if (!Array.isArray(candidates)) return INVALID
    const [candidate, ...others] = candidates as readonly unknown[]
    // Only one answer was requested.
    if (others.length > 0) return INVALID
    return candidate === undefined ? null : this.#candidate(objectOf(candidate))
  }

  #candidate(candidate: Members | null): Failure | null {
    if (candidate === null || (candidate['index'] ?? 0) !== 0) return INVALID
    const { content, finishReason } = candidate
    const isRead = !isThere(content) || this.#content(objectOf(content))
    return isRead ? this.#finished(finishReason) : INVALID
  }

  /** @returns false: not a content; the parts before it are written */
  #content(content: Members | null): boolean {
    if (content === null) return false
    if (!isThere(content['parts'])) return true
    if (!Array.isArray(content['parts'])) return false
    for (const part of content['parts'] as readonly unknown[]) {
      const written = geminiPart(part, this.#idOf)
      if (written === null) return false
      for (const one of written) this.write(one)
    }
    return true
  }

  readonly #idOf = (name: string): string =>
    this.#ids.of({ nth: this.#calls++, name, answerId: this.upstreamId })

  #finished(native: unknown): Failure | null {
    if (!isThere(native)) return null
    if (!isWord(native)) return INVALID
    const ending = geminiFinish(native, this.#calls > 0)
    if (ending.kind === 'finish') this.#ended(ending.reason, native)
    if (ending.kind !== 'failure') return null
    this.finishReason = native
    return ending.failure
  }

  #ended(reason: Finish['reason'], native: string): void {
    this.finishReason = native
    this.#finish = { kind: 'finish', choice: 0, reason, native, stopSequence: null }
  }
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= WORD_CHARS_MAX
}

/** The answer of `generateContent`. */
export function geminiWhole(body: Buffer, tier?: string | null): WholeRead<WholeParts> {
  const answer = parsed(body)
  if (answer === null) return NO_ANSWER
  const stream = new GeminiPartStream(CLEANED_LATER, { tier })
  const read = stream.whole([answer])
  if (!read.ok) return read
  const { blocked, finalParts } = stream
  return ok({ ...read.value, parts: [...read.value.parts, ...finalParts], ...(blocked && { blocked }) })
}

/**
 * One part of Gemini's content. Parts of unknown kinds are skipped.
 * @param idOf the id of a call, for which Google has none
 * @returns null: not a part, or one that cannot be passed on
 */
export function geminiPart(part: unknown, idOf: (name: string) => string): readonly WrittenPart[] | null {
  const members = objectOf(part)
  if (members === null) return null
  // The model made a medium, which translated answers cannot contain in any dialect.
  if (isThere(members['inlineData']) || isThere(members['fileData'])) return null
  const { thoughtSignature } = members
  if (isThere(thoughtSignature) && typeof thoughtSignature !== 'string') return null
  const data = typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : null
  return isThere(members['functionCall'])
    ? callParts(members['functionCall'], data, idOf)
    : textParts(members, data)
}

function textParts({ text, thought }: Members, data: string | null): readonly WrittenPart[] | null {
  if (isThere(text) && typeof text !== 'string') return null
  const plainText = typeof text === 'string' ? text : ''
  if (thought === true) {
    const summary = { kind: 'reasoning', choice: 0, text: plainText, isSummary: true } as const
    return [...(plainText === '' ? [] : [summary]), ...signed(data, 'reasoning')]
  }
  // The signature of a text covers hidden reasoning.
  const written = { kind: 'text', choice: 0, text: plainText } as const
  return [...(plainText === '' ? [] : [written]), ...signed(data, 'redacted')]
}

function callParts(
  call: unknown,
  data: string | null,
  idOf: (name: string) => string,
): readonly WrittenPart[] | null {
  const { name, args } = objectOf(call) ?? {}
  if (typeof name !== 'string' || name === '') return null
  const json = argumentsOf(args)
  if (json === null) return null
  return [
    { kind: 'tool', choice: 0, id: idOf(name), name },
    { kind: 'arguments', choice: 0, text: json },
    ...signed(data, 'call'),
  ]
}

/** @returns null: not an object, or nested too deeply to be written */
function argumentsOf(args: unknown): string | null {
  if (!isThere(args)) return '{}'
  try {
    return writtenJson(args)
  } catch {
    return null
  }
}

function signed(data: string | null, of: 'reasoning' | 'redacted' | 'call'): readonly WrittenPart[] {
  if (data === null) return []
  return [{ kind: 'signature', choice: 0, signature: { format: SIGNATURE_FORMATS.gemini, data }, of }]
}

/** False also for null, which is equivalent to a missing member. */
export function isThere(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Gemini's finish reasons for an answer that a filter ended. */
const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** Finish reasons for an answer that failed; its text may be incomplete or empty. */
const FAILED = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
  'OTHER',
  'NO_IMAGE',
  'IMAGE_OTHER',
])

/** Equivalent to no finish reason: the answer continues. */
const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED'

export type GeminiFinish =
  | { readonly kind: 'none' }
  | { readonly kind: 'finish'; readonly reason: FinishReason }
  | { readonly kind: 'failure'; readonly failure: Failure }

/**
 * The meaning of a `finishReason`. Words that Google adds later count as a stop: as failures they would break
 * every answer.
 * @param hasCalls the model called tools, for which Gemini has no finish reason
 */
export function geminiFinish(native: string, hasCalls: boolean): GeminiFinish {
  if (native === UNSPECIFIED) return { kind: 'none' }
  if (FAILED.has(native)) {
    return {
      kind: 'failure',
      failure: { name: 'upstream_failed', detail: `The answer ended with ${native}.` },
    }
  }
  if (FILTERED.has(native)) return { kind: 'finish', reason: 'content_filter' }
  if (native === 'MAX_TOKENS') return { kind: 'finish', reason: 'length' }
  return { kind: 'finish', reason: hasCalls ? 'tool_calls' : 'stop' }
}

/**
 * Usage reported by Gemini, in buckets that do not overlap. The prompt includes cached tokens, and excludes
 * the input that the provider's own tools added. Thoughts are counted apart from the answer; servers that
 * count them within it are recognized by their total. A figure that is 0 is left out.
 * @param usage `usageMetadata`
 * @returns null: a figure is not a count, or the prompt has none
 */
export function geminiUsageOf(usage: unknown): TokenUsage | null {
  const figures = membersOf(usage)
  const figure = (name: string): number | null => (name in figures ? countOf(figures[name]) : 0)
  const prompt = countOf(figures['promptTokenCount'])
  const ofTools = figure('toolUsePromptTokenCount')
  const cached = figure('cachedContentTokenCount')
  const answer = figure('candidatesTokenCount')
  const thoughts = figure('thoughtsTokenCount')
  if (prompt === null || ofTools === null || cached === null || answer === null || thoughts === null)
    return null
  const isWithin = countOf(figures['totalTokenCount']) === prompt + ofTools + answer && thoughts <= answer
  const cacheRead = Math.min(cached, prompt)
  const tokens = {
    input: prompt - cacheRead + ofTools,
    cacheRead,
    cacheWrite: 0,
    output: isWithin ? answer - thoughts : answer,
    reasoning: thoughts,
  }
  return withMedia(tokens, mediaIn(figures))
}

const SOUND = 'AUDIO'
const PICTURE = 'IMAGE'

/** Google reports counts by media type in addition to its sums; those of the prompt include cached tokens. */
function mediaIn(figures: Members): MediaFigures {
  const [prompt, ofTools] = [figures['promptTokensDetails'], figures['toolUsePromptTokensDetails']]
  const [cached, answer] = [figures['cacheTokensDetails'], figures['candidatesTokensDetails']]
  const fresh = (kind: string): number =>
    Math.max(0, tokensOf(prompt, kind) - tokensOf(cached, kind)) + tokensOf(ofTools, kind)
  return {
    audio: fresh(SOUND),
    image: fresh(PICTURE),
    audioRead: tokensOf(cached, SOUND),
    audioOutput: tokensOf(answer, SOUND),
  }
}

/** @param details a list of kinds with their counts */
function tokensOf(details: unknown, kind: string): number {
  if (!Array.isArray(details)) return 0
  return (details as readonly unknown[])
    .map(membersOf)
    .filter(({ modality }) => modality === kind)
    .reduce((sum, { tokenCount }) => sum + (countOf(tokenCount) ?? 0), 0)
}

/** The header in which Google's API reports the tier of an answer. */
export const GEMINI_TIER_HEADER = 'x-gemini-service-tier'

/** Paths of one model's calls in Google's API, below the base address. */
interface GeminiPaths {
  readonly whole: string
  /** Without the query the answer would be one list. */
  readonly streamed: string
  readonly count: string
}

/** @param upstreamModel such as `gemini-2.5-pro` */
export function geminiPaths(upstreamModel: string): GeminiPaths {
  const model = `/models/${encodeURIComponent(upstreamModel)}`
  return {
    whole: `${model}:generateContent`,
    streamed: `${model}:streamGenerateContent?alt=sse`,
    count: `${model}:countTokens`,
  }
}

/** Google's token count of a prompt, in the form of the Messages dialect. @returns null: the answer has no count */
export function geminiCount(body: Uint8Array): Uint8Array | null {
  const tokens = countOf(objectIn(body)['totalTokens'])
  return tokens === null ? null : Buffer.from(JSON.stringify({ input_tokens: tokens }))
}

function objectIn(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(Buffer.from(body).toString()))
  } catch {
    return {}
  }
}
