/** What the forms make of a request by themselves, without a node. */
import Value from 'typebox/value'
import { BODIES } from '../../../../src/schemas/bodies.ts'
import { PROMPT_WRITERS } from '../../../../src/dialects/writers.ts'
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { Body } from './field-samples.ts'
import type { Seen } from './verdict.ts'
import { PROMPT_READERS } from '../../../../src/dialects/translate.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** Models that have what the table says of their protocol. */
export const UPSTREAM: Readonly<Record<TextProtocol, string>> = {
  chat: 'first-model',
  responses: 'first-model',
  messages: 'claude-first',
  gemini: 'gemini-3-flash',
}

export interface Pair {
  readonly from: Dialect
  readonly to: TextProtocol
  readonly isStrict: boolean
}

export function seenInProcess({ from, to, isStrict }: Pair, body: Body): Seen {
  const asked = { model: 'acme/one', ...body }
  // What no form of calls has is refused before it is read.
  if (!Value.Check(BODIES[from].schema, asked)) return { body: null, dropped: [], refused: [''] }
  const prompt = PROMPT_READERS[from](asked)
  const written = PROMPT_WRITERS[to](prompt, {
    upstreamModel: UPSTREAM[to],
    tokensMax: null,
    isStrict,
    isMaker: false,
    signatureFormats: to === 'chat' ? [] : [SIGNATURE_FORMATS[to]],
  })
  if (written.refused.length > 0)
    return { body: null, dropped: [], refused: written.refused.map(({ path }) => path) }
  // Whether Gemini streams stands in its path.
  const alt = to === 'gemini' && prompt.isStream ? { alt: 'sse' } : {}
  const sent = JSON.parse(JSON.stringify({ ...written.body, ...alt })) as Body
  return { body: sent, dropped: written.dropped, refused: [] }
}
