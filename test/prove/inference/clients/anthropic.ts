/** `@anthropic-ai/sdk`, by its iterator and its helper for streams. */
import { load } from '../../../support/wire/foreign-clients.ts'
import { Collected, LOOK, type Ask, type ChatClient, type Seen } from './client.ts'

interface Block {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
}

interface Message {
  readonly content: readonly Block[]
  readonly stop_reason: string | null
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
}

interface Helper extends AsyncIterable<{
  readonly type: string
  readonly delta?: { readonly type?: string; readonly text?: string; readonly thinking?: string }
}> {
  finalMessage(): Promise<Message>
}

interface Options {
  readonly signal?: AbortSignal
}

interface Client {
  readonly messages: {
    create(body: object, options?: Options): Promise<Message>
    stream(body: object, options?: Options): Helper
  }
}

const TOKENS_MAX = 4_096
const THINKING_TOKENS = 1_024

/** @param base address of the API, with its version, which this client adds by itself */
export async function anthropic(base: string, apiKey: string): Promise<ChatClient> {
  const { default: Anthropic } = (await load('@anthropic-ai/sdk')) as {
    default: new (options: object) => Client
  }
  const client = new Anthropic({ baseURL: base.replace(/\/v1$/, ''), apiKey })
  return {
    name: '@anthropic-ai/sdk',
    readsReasoning: true,
    replaysReasoning: true,
    async ask(ask): Promise<Seen> {
      const seen = new Collected(ask)
      try {
        await steps(client, ask, seen)
      } catch (error) {
        seen.failed(error)
      }
      return seen.finished()
    },
  }
}

/** Calls, runs `look` where the model asks for it, and calls again with all that it said. */
async function steps(client: Client, ask: Ask, seen: Collected): Promise<void> {
  const messages: object[] = [{ role: 'user', content: contentOf(ask) }]
  for (;;) {
    const message = await answered(client, { ...bodyOf(ask), messages }, { ask, seen })
    seen.finish = message.stop_reason
    seen.tokens = message.usage.input_tokens + message.usage.output_tokens
    const calls = message.content.filter(({ type }) => type === 'tool_use')
    for (const { name = '', input } of calls) seen.called(name, input)
    const { look } = ask
    if (look === undefined || calls.length === 0) return
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: look((input as { readonly city: string }).city),
    }))
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results })
  }
}

async function answered(
  { messages }: Client,
  body: object,
  { ask, seen }: { readonly ask: Ask; readonly seen: Collected },
): Promise<Message> {
  const options = ask.signal === undefined ? {} : { signal: ask.signal }
  if (!ask.isStream) {
    const message = await messages.create(body, options)
    for (const { text, thinking } of message.content) {
      seen.add(text)
      seen.think(thinking)
    }
    return message
  }
  const stream = messages.stream(body, options)
  for await (const { delta } of stream) {
    seen.add(delta?.text)
    seen.think(delta?.thinking)
  }
  return stream.finalMessage()
}

function contentOf({ prompt, image }: Ask): readonly object[] {
  const text = { type: 'text', text: prompt }
  if (image === undefined) return [text]
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/.exec(image) ?? []
  return [text, { type: 'image', source: { type: 'base64', media_type, data } }]
}

function bodyOf({ model, hasTool, mustCall, schema, effort }: Ask): object {
  const { name, description, parameters } = LOOK
  return {
    model,
    max_tokens: TOKENS_MAX,
    ...(hasTool === true && { tools: [{ name, description, input_schema: parameters }] }),
    ...(mustCall === true && { tool_choice: { type: 'tool', name } }),
    ...(schema !== undefined && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(effort !== undefined && { thinking: { type: 'enabled', budget_tokens: THINKING_TOKENS } }),
  }
}
