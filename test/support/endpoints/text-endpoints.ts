/** Private endpoints whose server writes texts: the stand of `endpoints-front.ts` with a server of that kind. */
import type { Test } from 'tap'
import { answersChat, refusesChat } from '../inference/fake-chat.ts'
import { startFakeProvider, type FakeAnswer, type FakeProvider } from '../inference/fake-provider.ts'
import { openEndpoints, UPSTREAM_HOST, type EndpointsStand, type StandInput } from './endpoints-front.ts'

/** The name of the model at a server of chat. */
export const SERVED_MODEL = 'fake-model'

export interface TextStand extends EndpointsStand {
  readonly server: FakeProvider
}

/** How each path is answered; a path that is not named is 404. */
export type Served = Readonly<Record<string, FakeAnswer>>

export const CHAT_PATH = '/v1/chat/completions'
export const MESSAGES_PATH = '/v1/messages'

const NO_PATH = refusesChat(404, { message: 'Not Found' })

/** A server by its paths. */
export function serves(served: Served): FakeAnswer {
  return (call, reply) => (served[call.path] ?? NO_PATH)(call, reply)
}

/** A server of chat alone. */
export function servesChat(answer: FakeAnswer = answersChat()): FakeAnswer {
  return serves({ [CHAT_PATH]: answer })
}

/** Drafts of the stand lead to the server, and leave its forms to the validation. */
export async function openTexts(t: Test, usual: FakeAnswer, given: StandInput = {}): Promise<TextStand> {
  const server = await startFakeProvider(usual)
  t.teardown(() => server.close())
  const stand = await openEndpoints(t, given)
  const own = {
    base_url: `https://${UPSTREAM_HOST}:${new URL(server.origin).port}/v1`,
    upstream_model_id: SERVED_MODEL,
    forms: null,
    pricing: { prompt: '0.000001', completion: '0.00001' },
  }
  return {
    ...stand,
    server,
    draft: (more = {}) => stand.draft({ ...own, ...more }),
    validated: (more = {}) => stand.validated({ ...own, ...more }),
    active: (more = {}) => stand.active({ ...own, ...more }),
  }
}

/** A request of chat or messages. */
export function asks(more: object = {}): object {
  return { model: 'acme/own', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }], ...more }
}
