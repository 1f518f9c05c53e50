/** Answers of the fake provider as Google's Gemini gives them, and as others give them badly. */
import { createHash } from 'node:crypto'
import { bodyOf, PROMPT_TOKENS, wholeJson } from '../fake-chat.ts'
import type { FakeAnswer, FakeCall } from '../fake-provider.ts'
import { streams, type FakeEvent, type StreamPlan } from '../fake-stream.ts'
import { signedOf, wrongGemini, type GivenSignatures } from './gemini-rules.ts'

export interface GeminiWords {
  readonly words?: readonly string[]
  /** Summaries of thoughts before the words. */
  readonly thoughts?: readonly string[]
  /** After the words. The first is signed, or without calls an empty text after the words. */
  readonly calls?: readonly { readonly name: string; readonly args: object }[]
  readonly finish?: string
  /** What the provider says of its tokens: the truth, nothing, or anything else in place of the object. */
  readonly usage?: 'honest' | 'missing' | object
  /** Members besides the usual ones of each chunk, or instead of them. */
  readonly more?: object
}

const WORDS: readonly string[] = ['Hello', ' there', ',', ' you']
const HEAD = { modelVersion: 'gemini-fake-2026', responseId: 'gemini-fake-0001' }

/** An honest answer, streamed when it is asked for, and a count of tokens. */
export function answersGemini(what: GeminiWords = {}, plan: StreamPlan = {}): FakeAnswer {
  const asStream = streams(() => geminiEvents(what), plan)
  return (call, reply) => {
    if (call.path.includes(':countTokens'))
      return wholeJson(200, JSON.stringify({ totalTokens: PROMPT_TOKENS }))(call, reply)
    return call.path.includes(':streamGenerateContent?alt=sse')
      ? asStream(call, reply)
      : wholeGemini(what)(call, reply)
  }
}

/**
 * Refuses what Google refuses, and signatures that it has not given, or that it misses. An answer that is
 * honest is asked for by a function, since it gives signatures.
 */
export function strictGemini(
  what: GeminiWords | ((call: FakeCall) => GeminiWords) = {},
  plan: StreamPlan = {},
): FakeAnswer {
  const given: GivenSignatures = new Map()
  return (call, reply) => {
    const wrong = wrongOf(call, given)
    if (wrong !== null) return refusesGemini(400, { message: wrong })(call, reply)
    const text = typeof what === 'function' ? what(call) : what
    geminiSigned(text, given)
    return answersGemini(text, plan)(call, reply)
  }
}

/** Remembers the signatures of an answer. */
export function geminiSigned(what: GeminiWords, given: GivenSignatures): void {
  for (const part of geminiParts(what))
    if (part.thoughtSignature !== undefined) given.set(part.thoughtSignature, signedOf(part))
}

/** A refusal in Google's form. @param error members of the error */
export function refusesGemini(
  status: number,
  error: object = {},
  headers: Readonly<Record<string, string>> = {},
): FakeAnswer {
  const reported = { code: status, message: 'Refused.', status: 'INVALID_ARGUMENT', ...error }
  return wholeJson(status, JSON.stringify({ error: reported }), headers)
}

/** An answer that is not streamed. */
export function wholeGemini(what: GeminiWords = {}): FakeAnswer {
  return (call, reply) => {
    reply.generated(0, (what.words ?? WORDS).length)
    return wholeJson(200, JSON.stringify(geminiBody(what)))(call, reply)
  }
}

/** The body of an answer that is not streamed: texts of one kind are one part. */
export function geminiBody(what: GeminiWords = {}): object {
  return chunkOf(what, joinedTexts(geminiParts(what)), true)
}

/** The events of a stream: a part each, the last with the finish, all with the usage so far. */
export function geminiEvents(what: GeminiWords = {}): readonly FakeEvent[] {
  const parts = geminiParts(what)
  if (parts.length === 0) return [{ data: JSON.stringify(chunkOf(what, [], true)) }]
  return parts.map((part, nth) => ({
    data: JSON.stringify(chunkOf(what, [part], nth === parts.length - 1)),
    tokens: 'text' in part && part.text !== '' && !('thought' in part) ? 1 : 0,
  }))
}

/** An error in the middle of a stream. */
export function geminiErrorEvent(code = 503, status = 'UNAVAILABLE', message = 'Overloaded.'): FakeEvent {
  return { data: JSON.stringify({ error: { code, message, status } }) }
}

interface Part {
  readonly text?: string
  readonly thought?: true
  readonly thoughtSignature?: string
  readonly functionCall?: { readonly name: string; readonly args: object }
}

function geminiParts({ words = WORDS, thoughts = [], calls = [] }: GeminiWords): readonly Part[] {
  const signatureOf = (part: unknown): string =>
    createHash('sha256').update(JSON.stringify(part)).digest('base64')
  const stated = [
    ...thoughts.map((text) => ({ text, thought: true as const })),
    ...words.map((text) => ({ text })),
  ]
  if (calls.length === 0) return [...stated, { text: '', thoughtSignature: signatureOf(stated) }]
  const [first, ...others] = calls.map((functionCall) => ({ functionCall }))
  return [...stated, { ...first, thoughtSignature: signatureOf([stated, first]) }, ...others]
}

/** A signature of an empty text goes to the text before it. */
function joinedTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isOne = last?.text !== undefined && part.text !== undefined && last.thought === part.thought
    if (isOne) joined[joined.length - 1] = { ...last, ...part, text: last.text + part.text }
    else joined.push(part)
  }
  return joined
}

function chunkOf(what: GeminiWords, parts: readonly Part[], isLast: boolean): object {
  const { words = WORDS, thoughts = [], finish = 'STOP', usage = 'honest', more = {} } = what
  const reported = isLast && { finishReason: finish }
  const tokens = words.length + (what.calls ?? []).length
  const honest = {
    promptTokenCount: PROMPT_TOKENS,
    ...(isLast && tokens > 0 && { candidatesTokenCount: tokens }),
    ...(isLast && thoughts.length > 0 && { thoughtsTokenCount: thoughts.length }),
    totalTokenCount: PROMPT_TOKENS + (isLast ? tokens + thoughts.length : 0),
  }
  return {
    candidates: [{ content: { parts, role: 'model' }, ...reported, index: 0 }],
    ...(usage === 'missing' ? {} : { usageMetadata: usage === 'honest' ? honest : usage }),
    ...HEAD,
    ...more,
  }
}

function wrongOf(call: FakeCall, given: GivenSignatures): string | null {
  if (call.headers['x-goog-api-key'] === undefined)
    return 'Method doesn’t allow unregistered callers. Please use API Key.'
  return wrongGemini(bodyOf(call), call.path, given)
}
