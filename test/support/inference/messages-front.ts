/** A front whose models are written by fake providers that speak messages. */
import { AUTHORIZATION } from '../front.ts'
import type { Teardown } from '../teardown.ts'
import { openChatProvider, type ChatProviderFront, type ChatProviderOptions } from './chat-provider-front.ts'
import { answersMessages, strictMessages } from './fake-messages.ts'
import { messageDataOf } from './message-events.ts'

export interface MessagesFront extends ChatProviderFront {
  /** Posts to /messages, or below it. */
  send(body: object, headers?: Readonly<Record<string, string>>, below?: string): Promise<Response>
}

const SPEAKS = { speaks: ['messages'] }

/**
 * The first provider has Anthropic's protocol, the second is a server of OpenAI's that speaks messages too.
 */
export async function openMessagesProvider(
  t: Teardown,
  options: ChatProviderOptions = {},
): Promise<MessagesFront> {
  const { firstFacts, secondFacts, otherFacts, firstProvider } = options
  const front = await openChatProvider(t, {
    ...options,
    firstProvider: { protocol: 'anthropic', ...firstProvider },
    firstFacts: { ...SPEAKS, ...firstFacts },
    secondFacts: { ...SPEAKS, ...secondFacts },
    otherFacts: { ...SPEAKS, ...otherFacts },
  })
  front.first.usually(strictMessages())
  front.second.usually(answersMessages())
  return {
    ...front,
    send: (body, headers = {}, below = '') =>
      fetch(`${front.url}/api/v1/messages${below}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  }
}

/** An event of a stream, as far as tests read it. */
export interface MessageEvent {
  readonly type: string
  readonly index?: number
  readonly message?: Readonly<Record<string, unknown>>
  readonly delta?: Readonly<Record<string, unknown>>
  readonly usage?: Readonly<Record<string, unknown>>
  readonly error?: Readonly<Record<string, unknown>>
}

/** The events of a stream in which nothing but events came. */
export function eventsOf(text: string): readonly MessageEvent[] {
  return messageDataOf(Buffer.from(text)).map((data) => JSON.parse(data) as MessageEvent)
}

export function statedBy(events: readonly MessageEvent[]): string {
  return events.map(({ delta }) => String(delta?.['text'] ?? '')).join('')
}
