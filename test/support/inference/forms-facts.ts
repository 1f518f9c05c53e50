/** Facts of the forms of callers and of providers. */
import { DIALECTS, type Dialect } from '../../../src/schemas/inference/text-request.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../src/schemas/models/protocols.ts'

/** Path of the operation of each dialect, below `/api/v1`. */
export const DIALECT_PATHS: Readonly<Record<Dialect, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

/** What the catalogue calls the API of a provider whose models speak each protocol. */
export const MAKERS: Readonly<Record<TextProtocol, string>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'google',
}

/** A caller's dialect and a provider's protocol of another form: nine pairs. */
export const TRANSLATED_PAIRS: readonly (readonly [Dialect, TextProtocol])[] = DIALECTS.flatMap((dialect) =>
  TEXT_PROTOCOLS.filter((protocol) => protocol !== dialect).map((protocol) => [dialect, protocol] as const),
)
