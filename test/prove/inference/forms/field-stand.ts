/** Fronts whose provider speaks one form and refuses what that form lacks, for callers of the others. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openChatProvider, type ChatProviderFront } from '../../../support/inference/chat-provider-front.ts'
import { answersChat, strictChat } from '../../../support/inference/fake-chat.ts'
import { answersMessages, strictMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { answersResponses, strictResponses } from '../../../support/inference/fake-responses.ts'
import { DIALECT_PATHS, MAKERS } from '../../../support/inference/forms-facts.ts'
import { strictGemini } from '../../../support/inference/gemini/fake-gemini.ts'
import type { Teardown } from '../../../support/teardown.ts'
import type { Body } from './field-samples.ts'
import { UPSTREAM } from './in-process.ts'
import type { Seen } from './verdict.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface ProviderKind {
  readonly protocol: TextProtocol
  readonly isStrict: boolean
}

/** Those that are strict refuse the members that OpenAI's types lack. */
export const PROVIDER_KINDS: readonly ProviderKind[] = [
  { protocol: 'chat', isStrict: false },
  { protocol: 'chat', isStrict: true },
  { protocol: 'responses', isStrict: false },
  { protocol: 'responses', isStrict: true },
  { protocol: 'messages', isStrict: false },
  { protocol: 'gemini', isStrict: false },
]

/** Those that refuse most, one of each form. */
export const REFUSING_KINDS = PROVIDER_KINDS.filter(
  ({ protocol, isStrict }) => isStrict || !(protocol === 'chat' || protocol === 'responses'),
)

/** The model of the provider alone. */
export const MODEL = 'acme/one'

function fakeOf({ protocol, isStrict }: ProviderKind): FakeAnswer {
  switch (protocol) {
    case 'chat':
      return isStrict ? strictChat() : answersChat()
    case 'responses':
      return isStrict ? strictResponses(answersResponses()) : answersResponses()
    case 'messages':
      return strictMessages(answersMessages())
    case 'gemini':
      return strictGemini()
  }
}

export interface FieldStand extends ChatProviderFront {
  /** The body as its provider got it. Throws where the provider refused it. */
  pass(dialect: Dialect, body: Body): Promise<Seen>
}

export async function openFieldStand(t: Teardown, kind: ProviderKind): Promise<FieldStand> {
  const { protocol, isStrict } = kind
  const front = await openChatProvider(t, {
    firstProvider: { protocol: MAKERS[protocol], strict: isStrict },
    firstFacts: { speaks: [protocol], upstream_model: UPSTREAM[protocol] },
  })
  front.first.usually(fakeOf(kind))
  return { ...front, pass: (dialect, body) => pass(front, dialect, body) }
}

async function pass({ url, first }: ChatProviderFront, dialect: Dialect, body: Body): Promise<Seen> {
  const before = first.calls.length
  const response = await fetch(`${url}/api/v1${DIALECT_PATHS[dialect]}`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, ...body }),
  })
  const text = await response.text()
  const call = first.calls[before]
  if (response.status === 400 && call === undefined) {
    const { error } = JSON.parse(text) as { error: { metadata?: { issues?: readonly { path: string }[] } } }
    return { body: null, dropped: [], refused: (error.metadata?.issues ?? []).map(({ path }) => path) }
  }
  if (response.status !== 200 || call === undefined)
    throw new Error(`${response.status} ${text.slice(0, 300)}`)
  const alt = call.path.endsWith('?alt=sse') ? { alt: 'sse' } : {}
  const dropped = response.headers.get('x-sluice-dropped')?.split(',') ?? []
  return { body: { ...(JSON.parse(call.body.toString()) as Body), ...alt }, dropped, refused: [] }
}
