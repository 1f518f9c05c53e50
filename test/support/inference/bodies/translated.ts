/** Requests of callers, read and written as a test is about them. */
import { PROMPT_WRITERS } from '../../../../src/dialects/writers.ts'
import type { Prompt, Turn } from '../../../../src/dialects/prompt/prompt.ts'
import type { WriteTerms, WrittenPrompt } from '../../../../src/dialects/prompt/write-terms.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { PROMPT_READERS } from '../../../../src/dialects/translate.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

type Body = Readonly<Record<string, unknown>>

/** The least request of each dialect. */
const LEAST: Readonly<Record<Dialect, Body>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'm', max_tokens: 5_000, messages: [{ role: 'user', content: 'Hi' }] },
}

/** An endpoint that takes all that there are words for, and gave no signature. */
export const LAX: WriteTerms = {
  upstreamModel: 'up',
  tokensMax: null,
  isStrict: false,
  isMaker: false,
  signatureFormats: [],
}

export function read(dialect: Dialect, more: Body): Prompt {
  return PROMPT_READERS[dialect]({ ...LEAST[dialect], ...more })
}

/** The turns of these messages of a chat. */
export function chatTurns(...messages: readonly unknown[]): readonly Turn[] {
  return read('chat', { messages }).turns
}

/** The turns of these items of responses. */
export function itemTurns(...input: readonly unknown[]): readonly Turn[] {
  return read('responses', { input }).turns
}

/** The turns of these messages of the dialect of the same name. */
export function messageTurns(...messages: readonly unknown[]): readonly Turn[] {
  return read('messages', { messages }).turns
}

/** What an endpoint gets of a request of another form. */
export function translated(
  [dialect, protocol]: readonly [Dialect, TextProtocol],
  more: Body,
  terms: Partial<WriteTerms> = {},
): WrittenPrompt {
  return PROMPT_WRITERS[protocol](read(dialect, more), { ...LAX, ...terms })
}
