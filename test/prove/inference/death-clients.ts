/** Clients of other vendors under one form, for streams that break off. */
import OpenAI from 'openai'
import { openRouterClient } from '../../support/wire/foreign-clients.ts'

export interface StreamClient {
  readonly name: string
  /** Streams an answer to its end. */
  read(model: string): Promise<Seen>
}

export interface Seen {
  /** What the program has in hand, also where the client then raises. */
  readonly text: string
  /** What the client raised; null: nothing. */
  readonly raised: string | null
}

const messages = [{ role: 'user' as const, content: 'Hello there' }]

/** @param url of the API, with its prefix */
export async function streamClients(url: string, key: string): Promise<readonly StreamClient[]> {
  const { completions } = new OpenAI({ apiKey: key, baseURL: url }).chat
  const { chat } = await openRouterClient({ baseUrl: url, apiKey: key })
  return [
    client('openai', (model) => completions.create({ model, messages, stream: true })),
    client('openai, its helper', (model) =>
      Promise.resolve(completions.stream({ model, messages, stream: true })),
    ),
    client('@openrouter/sdk', (model) => chat.send({ chatRequest: { model, messages, stream: true } })),
  ]
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[]
}

function client(name: string, open: (model: string) => PromiseLike<AsyncIterable<Chunk>>): StreamClient {
  return {
    name,
    async read(model) {
      let text = ''
      try {
        for await (const { choices } of await open(model)) text += choices[0]?.delta.content ?? ''
        return { text, raised: null }
      } catch (error) {
        return { text, raised: error instanceof Error ? error.name : String(error) }
      }
    },
  }
}
