/** What clients send by themselves is refused nowhere: they call providers of every other form. */
import { API_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import type { Proof } from '../../proof.ts'
import { anthropic } from '../clients/anthropic.ts'
import type { Ask, ChatClient } from '../clients/client.ts'
import { openAi } from '../clients/openai.ts'
import { openAiResponses } from '../clients/openai-responses.ts'
import { openRouter } from '../clients/openrouter.ts'
import { openRouterResponses } from '../clients/openrouter-responses.ts'
import { vercel, vercelAnthropic, vercelResponses } from '../clients/vercel.ts'
import { MODEL, openFieldStand, type FieldStand, type ProviderKind } from './field-stand.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
/** What a program asks a client for. */
const ASKS: Readonly<Record<string, Partial<Ask>>> = {
  text: {},
  'a tool': { hasTool: true },
  'a tool that has to be called': { hasTool: true, mustCall: true },
  'a picture': { image: PICTURE },
  'an answer of a schema': { schema: SCHEMA },
  'an effort': { effort: 'low' },
}

export async function defaultRequests(proof: Proof, kind: ProviderKind): Promise<void> {
  const stand = await openFieldStand(proof, kind)
  const refused: string[] = []
  let count = 0
  for (const client of await clientsFor(stand.url, kind.protocol))
    for (const [name, ask] of Object.entries(ASKS))
      for (const isStream of proof.isShort ? [false] : [false, true]) {
        count++
        const fault = await faultOf(stand, client, { model: MODEL, prompt: 'Hello there', isStream, ...ask })
        if (fault !== null) refused.push(`${client.name}, ${name}: ${fault}`)
      }
  proof.check(
    `what clients send by themselves reaches a provider that speaks ${kind.protocol}`,
    refused.length === 0,
    refused.length === 0 ? `${count} requests` : refused.join(' | '),
  )
}

/** Null: the provider got and took the request. The client's reading of the answer does not matter here. */
async function faultOf({ first }: FieldStand, client: ChatClient, ask: Ask): Promise<string | null> {
  const before = first.calls.length
  const { error } = await client.ask(ask)
  if (error !== null && (error.status ?? 0) >= 400) return `${error.status} ${error.text}`
  return first.calls.length > before ? null : `no call: ${error?.text ?? ''}`
}

async function clientsFor(url: string, protocol: TextProtocol): Promise<readonly ChatClient[]> {
  const base = `${url}${API_PREFIX}`
  const key = AUTHORIZATION.replace('Bearer ', '')
  const clients: Readonly<Record<Dialect, () => Promise<readonly ChatClient[]>>> = {
    chat: async () => [openAi(base, key), await openRouter(base, key), ...(await vercel(base, key))],
    responses: async () => [
      openAiResponses(base, key),
      await openRouterResponses(base, key),
      await vercelResponses(base, key),
    ],
    messages: async () => [await anthropic(base, key), await vercelAnthropic(base, key)],
  }
  const foreign = Object.entries(clients).filter(([dialect]) => dialect !== protocol)
  return (await Promise.all(foreign.map(([, open]) => open()))).flat()
}
