/** `@openrouter/sdk`: refuses each answer and each event that is not of the shape that it knows. */
import { load } from '../../../support/wire/foreign-clients.ts'
import { Collected, LOOK, type Ask, type ChatClient, type Seen } from './client.ts'

type Members = Readonly<Record<string, unknown>>

interface Sdk {
  readonly chat: {
    send(asked: { readonly chatRequest: Members }, options?: object): Promise<Answer | AsyncIterable<Chunk>>
  }
}

interface ToolCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

interface Message {
  readonly content?: string | null
  readonly reasoning?: string | null
  readonly toolCalls?: readonly ToolCall[]
}

interface Answer {
  readonly choices: readonly { readonly message: Message; readonly finishReason: string | null }[]
  readonly usage?: { readonly totalTokens: number }
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: Omit<Message, 'toolCalls'> & { readonly toolCalls?: readonly ToolCallPiece[] }
    readonly finishReason: string | null
  }[]
  readonly usage?: { readonly totalTokens: number }
  readonly error?: { readonly code: number; readonly message: string }
}

interface ToolCallPiece {
  readonly index: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

export async function openRouter(serverURL: string, apiKey: string): Promise<ChatClient> {
  const { OpenRouter } = (await load('@openrouter/sdk')) as { OpenRouter: new (options: object) => Sdk }
  const { chat } = new OpenRouter({ serverURL, apiKey })
  return {
    name: '@openrouter/sdk',
    readsReasoning: true,
    replaysReasoning: false,
    async ask(ask): Promise<Seen> {
      const seen = new Collected(ask)
      try {
        const messages: Members[] = [{ role: 'user', content: contentOf(ask) }]
        const first = await step(chat, ask, messages, seen)
        if (ask.look !== undefined) {
          messages.push(...repliesTo(first, ask.look))
          await step(chat, ask, messages, seen)
        }
      } catch (error) {
        seen.failed(error)
      }
      return seen.finished()
    },
  }
}

/** One call; its client has no helper that runs tools over chat. @returns the tools that were called */
async function step(
  chat: Sdk['chat'],
  ask: Ask,
  messages: readonly Members[],
  seen: Collected,
): Promise<readonly ToolCall[]> {
  const chatRequest = { ...requestOf(ask), messages, stream: ask.isStream }
  const signal = ask.signal === undefined ? {} : { signal: ask.signal }
  const answer = await chat.send({ chatRequest }, signal)
  if (!('choices' in answer)) return read(answer, seen)
  const [choice] = answer.choices
  seen.add(choice?.message.content)
  seen.think(choice?.message.reasoning)
  seen.finish = choice?.finishReason ?? null
  seen.tokens = answer.usage?.totalTokens ?? null
  const calls = choice?.message.toolCalls ?? []
  for (const call of calls) seen.called(call.function.name, call.function.arguments)
  return calls
}

async function read(chunks: AsyncIterable<Chunk>, seen: Collected): Promise<readonly ToolCall[]> {
  const ids = new Map<number, { id: string; name: string; json: string }>()
  for await (const { choices, usage, error } of chunks) {
    if (error !== undefined) seen.failed(error)
    seen.add(choices[0]?.delta.content)
    seen.think(choices[0]?.delta.reasoning)
    for (const { index, id, function: called } of choices[0]?.delta.toolCalls ?? []) {
      seen.fragment(index, called?.name, called?.arguments)
      const known = ids.get(index) ?? { id: '', name: '', json: '' }
      ids.set(index, {
        id: known.id + (id ?? ''),
        name: known.name + (called?.name ?? ''),
        json: known.json + (called?.arguments ?? ''),
      })
    }
    seen.finish = choices[0]?.finishReason ?? seen.finish
    seen.tokens = usage?.totalTokens ?? seen.tokens
  }
  return [...ids.values()].map(({ id, name, json }) => ({ id, function: { name, arguments: json } }))
}

function repliesTo(calls: readonly ToolCall[], look: (city: string) => string): readonly Members[] {
  const results = calls.map(({ id, function: { arguments: json } }) => ({
    role: 'tool',
    toolCallId: id,
    content: look((JSON.parse(json) as { city: string }).city),
  }))
  const toolCalls = calls.map(({ id, function: called }) => ({ id, type: 'function', function: called }))
  return [{ role: 'assistant', content: null, toolCalls }, ...results]
}

function contentOf({ prompt, image }: Ask): unknown {
  if (image === undefined) return prompt
  return [
    { type: 'text', text: prompt },
    { type: 'image_url', imageUrl: { url: image } },
  ]
}

function requestOf({ model, hasTool, mustCall, schema, effort }: Ask): Members {
  return {
    model,
    ...(hasTool === true && { tools: [{ type: 'function', function: LOOK }] }),
    ...(mustCall === true && { toolChoice: { type: 'function', function: { name: LOOK.name } } }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(schema !== undefined && {
      responseFormat: { type: 'json_schema', jsonSchema: { name: 'city', strict: true, schema } },
    }),
  }
}
