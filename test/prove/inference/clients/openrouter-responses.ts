/** `@openrouter/sdk` over responses: it gives what it does not know as unknown, which counts as an error. */
import { load } from '../../../support/wire/foreign-clients.ts'
import { Collected, LOOK, type Ask, type ChatClient, type Seen } from './client.ts'

type Members = Readonly<Record<string, unknown>>

interface Sdk {
  readonly beta: {
    readonly responses: {
      send(
        asked: { readonly responsesRequest: Members },
        options?: object,
      ): Promise<Answer | AsyncIterable<Event>>
    }
  }
}

interface Item {
  readonly type: string
  readonly callId?: string
  readonly name?: string
  readonly arguments?: string
  readonly content?: readonly { readonly text?: string }[]
  readonly summary?: readonly { readonly text: string }[]
}

interface Answer {
  readonly status: string
  readonly output: readonly Item[]
  readonly usage?: { readonly totalTokens: number } | null
}

interface Event {
  readonly type: string
  readonly delta?: string
  readonly response?: Answer
  readonly code?: string | null
  readonly message?: string
}

export async function openRouterResponses(serverURL: string, apiKey: string): Promise<ChatClient> {
  const { OpenRouter } = (await load('@openrouter/sdk')) as { OpenRouter: new (options: object) => Sdk }
  const client = new OpenRouter({ serverURL, apiKey })
  return {
    name: '@openrouter/sdk, responses',
    readsReasoning: true,
    replaysReasoning: true,
    async ask(ask): Promise<Seen> {
      const seen = new Collected(ask)
      try {
        const input: Members[] = [{ type: 'message', role: 'user', content: contentOf(ask) }]
        const first = await step(client, { ask, input }, seen)
        const { look } = ask
        if (look !== undefined) {
          const output = first?.output ?? []
          const results = output
            .filter(({ type }) => type === 'function_call')
            .map((item) => resultOf(item, look))
          input.push(...(output as unknown as Members[]), ...results)
          await step(client, { ask, input }, seen)
        }
      } catch (error) {
        seen.failed(error)
      }
      return seen.finished()
    },
  }
}

interface Step {
  readonly ask: Ask
  readonly input: readonly Members[]
}

async function step({ beta }: Sdk, { ask, input }: Step, seen: Collected): Promise<Answer | null> {
  const responsesRequest = { ...requestOf(ask), input, stream: ask.isStream }
  const signal = ask.signal === undefined ? {} : { signal: ask.signal }
  const sent = await beta.responses.send({ responsesRequest }, signal)
  const answer = 'output' in sent ? sent : await read(sent, seen)
  for (const item of answer?.output ?? []) {
    if (item.type === 'UNKNOWN') seen.failed(new Error('an unknown item'))
    if (item.type === 'function_call') seen.called(item.name ?? '', item.arguments)
    if (ask.isStream) continue
    if (item.type === 'message') seen.add(item.content?.map(({ text }) => text ?? '').join(''))
    if (item.type === 'reasoning') seen.think(item.summary?.map(({ text }) => text).join(''))
  }
  seen.finish = answer?.status ?? null
  seen.tokens = answer?.usage?.totalTokens ?? null
  return answer
}

async function read(events: AsyncIterable<Event>, seen: Collected): Promise<Answer | null> {
  let last: Answer | null = null
  for await (const { type, delta, response, message } of events) {
    if (type === 'UNKNOWN') seen.failed(new Error('an unknown event'))
    if (type === 'error') seen.failed(new Error(message))
    if (type === 'response.output_text.delta') seen.add(delta)
    if (type === 'response.reasoning_summary_text.delta') seen.think(delta)
    last = response ?? last
  }
  return last
}

function resultOf({ callId, arguments: json = '{}' }: Item, look: (city: string) => string): Members {
  const { city } = JSON.parse(json) as { city: string }
  return { type: 'function_call_output', callId, output: look(city) }
}

function contentOf({ prompt, image }: Ask): unknown {
  if (image === undefined) return prompt
  return [
    { type: 'input_text', text: prompt },
    { type: 'input_image', imageUrl: image, detail: 'auto' },
  ]
}

function requestOf({ model, hasTool, mustCall, schema, effort }: Ask): Members {
  return {
    model,
    ...(hasTool === true && { tools: [{ type: 'function', ...LOOK }] }),
    ...(mustCall === true && { toolChoice: { type: 'function', name: LOOK.name } }),
    ...(effort !== undefined && { reasoning: { effort, summary: 'auto' } }),
    ...(schema !== undefined && {
      text: { format: { type: 'json_schema', name: 'city', strict: true, schema } },
    }),
  }
}
