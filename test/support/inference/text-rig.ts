/** A front over a provider that speaks one protocol and refuses what its model refuses, for all callers. */
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../front.ts'
import { keptSpend } from '../money/free-spend.ts'
import type { Teardown } from '../teardown.ts'
import { openChatProvider, type ChatProviderFront, type ChatProviderOptions } from './chat-provider-front.ts'
import { answersChat, strictChat } from './fake-chat.ts'
import { answersMessages, strictMessages } from './fake-messages.ts'
import type { FakeAnswer } from './fake-provider.ts'
import { answersResponses, strictResponses } from './fake-responses.ts'
import { DIALECT_PATHS, MAKERS } from './forms-facts.ts'
import { strictGemini } from './gemini/fake-gemini.ts'
import type { TextProtocol } from '../../../src/schemas/models/protocols.ts'

/** What the user says. */
export const SENT_TEXT = 'Hello there'
const BODIES: Readonly<Record<Dialect, object>> = {
  chat: { model: 'acme/one', messages: [{ role: 'user', content: SENT_TEXT }] },
  responses: { model: 'acme/one', input: SENT_TEXT },
  messages: { model: 'acme/one', max_tokens: 50, messages: [{ role: 'user', content: SENT_TEXT }] },
}
const FAKES: Readonly<Record<TextProtocol, FakeAnswer>> = {
  gemini: strictGemini(),
  chat: strictChat(answersChat()),
  responses: strictResponses(answersResponses()),
  messages: strictMessages(answersMessages()),
}
/** Of an answer that is not streamed. */
export const PROVIDER_PATHS: Readonly<Record<TextProtocol, string>> = {
  gemini: '/v1/models/first-model:generateContent',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}

export interface TextRig extends ChatProviderFront {
  readonly spend: ReturnType<typeof keptSpend>
  /** A call with the text, and with these members, or with this body. */
  send(dialect: Dialect, body?: object | string, signal?: AbortSignal): Promise<Response>
}

export async function rigged(
  t: Teardown,
  protocol: TextProtocol,
  options: Pick<ChatProviderOptions, 'presetConfigs' | 'keys' | 'ownKey'> = {},
): Promise<TextRig> {
  const spend = keptSpend()
  const front = await openChatProvider(t, {
    ...options,
    spend,
    firstProvider: { protocol: MAKERS[protocol] },
    firstFacts: { speaks: [protocol] },
  })
  front.first.usually(FAKES[protocol])
  return {
    ...front,
    spend,
    send: (dialect, body = {}, signal) =>
      fetch(`${front.url}/api/v1${DIALECT_PATHS[dialect]}`, {
        method: 'POST',
        ...(signal && { signal }),
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify({ ...BODIES[dialect], ...body }),
      }),
  }
}
