/** Vercel's `ai`, with each provider package of it that speaks chat. */
import { load } from '../../../support/wire/foreign-clients.ts'
import { Collected, LOOK, type Ask, type ChatClient, type Seen } from './client.ts'

interface Ai {
  generateText(options: object): Promise<Generated>
  streamText(options: object): { readonly fullStream: AsyncIterable<Part> }
  tool(options: object): object
  jsonSchema(schema: object): object
  stepCountIs(count: number): object
  readonly Output: { object(options: object): object }
}

interface Call {
  readonly toolName: string
  readonly input: unknown
  /** A tool of the provider's own, which the caller is not asked to run. */
  readonly providerExecuted?: boolean
}

interface Generated {
  readonly text: string
  readonly reasoningText?: string
  readonly finishReason: string
  readonly totalUsage: Usage
  readonly steps: readonly { readonly toolCalls: readonly Call[] }[]
}

interface Usage {
  readonly totalTokens?: number
}

type Part =
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly text: string }
  | ({ readonly type: 'tool-call' } & Call)
  | { readonly type: 'finish'; readonly finishReason: string; readonly totalUsage: Usage }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'abort' }

type Settings = Readonly<Record<string, unknown>>
interface Provider {
  responses?(model: string): object
  chat?(model: string): object
  chatModel?(model: string): object
}

type Made = (name: string, maker: string, more?: Settings) => Promise<Provider>

function makerOf(baseURL: string, apiKey: string): Made {
  return async (name, maker, more = {}) => {
    const makers = (await load(name)) as Readonly<Record<string, (settings: Settings) => Provider>>
    const make = makers[maker]
    if (make === undefined) throw new Error(`${name} has no ${maker}`)
    return make({ baseURL, apiKey, ...more })
  }
}

/** The one provider package that speaks responses. */
export async function vercelResponses(baseURL: string, apiKey: string): Promise<ChatClient> {
  const ai = (await load('ai')) as Ai
  const { responses } = await makerOf(baseURL, apiKey)('@ai-sdk/openai', 'createOpenAI')
  // It asks for an effort only where it knows the model.
  const facts = {
    readsReasoning: true,
    effortAt: 'openai',
    more: { reasoningSummary: 'auto', forceReasoning: true },
  }
  return clientOf(ai, '@ai-sdk/openai, responses', facts, { ...(responses && { chat: responses }) })
}

/** @returns one client of chat for each provider package */
export async function vercel(baseURL: string, apiKey: string): Promise<readonly ChatClient[]> {
  const ai = (await load('ai')) as Ai
  const made = makerOf(baseURL, apiKey)
  const openai = await made('@ai-sdk/openai', 'createOpenAI')
  const settings = { name: 'sluice', supportsStructuredOutputs: true }
  const compatible = await made('@ai-sdk/openai-compatible', 'createOpenAICompatible', settings)
  const openrouter = await made('@openrouter/ai-sdk-provider', 'createOpenRouter')
  return [
    // It has no reasoning in chat: OpenAI's own models give none there.
    clientOf(ai, '@ai-sdk/openai', { readsReasoning: false, effortAt: 'openai' }, openai),
    clientOf(ai, '@ai-sdk/openai-compatible', { readsReasoning: true, effortAt: 'sluice' }, compatible),
    clientOf(ai, '@openrouter/ai-sdk-provider', { readsReasoning: true, effortAt: 'openrouter' }, openrouter),
  ]
}

/** Anthropic's package of it, which calls messages. */
export async function vercelAnthropic(baseURL: string, apiKey: string): Promise<ChatClient> {
  const ai = (await load('ai')) as Ai
  const provider = await makerOf(baseURL, apiKey)('@ai-sdk/anthropic', 'createAnthropic')
  return clientOf(ai, '@ai-sdk/anthropic', { readsReasoning: true, effortAt: 'anthropic' }, provider)
}

interface Facts {
  readonly readsReasoning: boolean
  /** Name of the provider's own options. */
  readonly effortAt: string
  /** Options besides the effort. */
  readonly more?: Settings
}

function clientOf(ai: Ai, name: string, facts: Facts, provider: Provider): ChatClient {
  return {
    name,
    readsReasoning: facts.readsReasoning,
    replaysReasoning: facts.effortAt in EFFORTS,
    async ask(ask): Promise<Seen> {
      const seen = new Collected(ask)
      const model = provider.chat?.(ask.model) ?? provider.chatModel?.(ask.model)
      const options = { model, ...optionsOf(ai, ask, facts) }
      try {
        if (ask.isStream) await streams(ai, options, seen)
        else await answers(ai, options, seen)
      } catch (error) {
        seen.failed(error)
      }
      return seen.finished()
    },
  }
}

async function answers(ai: Ai, options: object, seen: Collected): Promise<void> {
  const { text, reasoningText, finishReason, totalUsage, steps } = await ai.generateText(options)
  seen.add(text)
  seen.think(reasoningText)
  for (const { toolCalls } of steps) for (const call of toolCalls) called(call, seen)
  seen.finish = finishReason
  seen.tokens = totalUsage.totalTokens ?? null
}

function called({ toolName, input, providerExecuted = false }: Call, seen: Collected): void {
  if (!providerExecuted) seen.called(toolName, input)
}

async function streams(ai: Ai, options: object, seen: Collected): Promise<void> {
  const { fullStream } = ai.streamText({ ...options, onError: () => undefined })
  for await (const part of fullStream) {
    if (part.type === 'text-delta') seen.add(part.text)
    else if (part.type === 'reasoning-delta') seen.think(part.text)
    else if (part.type === 'tool-call') called(part, seen)
    else if (part.type === 'error') seen.failed(part.error)
    else if (part.type === 'abort') seen.failed(new Error('aborted'))
    else if (part.type === 'finish') {
      seen.finish = part.finishReason
      seen.tokens = part.totalUsage.totalTokens ?? null
    }
  }
}

/** How a provider package takes an effort, where not as `reasoningEffort`. */
const EFFORTS: Readonly<Record<string, (effort: Ask['effort']) => object>> = {
  openrouter: (effort) => ({ reasoning: { effort } }),
  anthropic: () => ({ thinking: { type: 'enabled', budgetTokens: 1_024 } }),
}

function optionsOf(ai: Ai, ask: Ask, { effortAt, more = {} }: Facts): Settings {
  const { prompt, image, hasTool, mustCall, look, schema, effort, signal } = ask
  const content = [{ type: 'text', text: prompt }, ...(image === undefined ? [] : [{ type: 'image', image }])]
  const tool = {
    description: LOOK.description,
    inputSchema: ai.jsonSchema(LOOK.parameters),
    ...(look !== undefined && { execute: ({ city }: { city: string }) => look(city) }),
  }
  const byProvider = EFFORTS[effortAt]?.(effort) ?? { reasoningEffort: effort, ...more }
  return {
    messages: [{ role: 'user', content }],
    ...(hasTool === true && { tools: { [LOOK.name]: ai.tool(tool) } }),
    ...(mustCall === true && { toolChoice: { type: 'tool', toolName: LOOK.name } }),
    ...(look !== undefined && { stopWhen: ai.stepCountIs(2) }),
    ...(schema !== undefined && { output: ai.Output.object({ schema: ai.jsonSchema(schema) }) }),
    ...(effort !== undefined && { providerOptions: { [effortAt]: byProvider } }),
    ...(signal !== undefined && { abortSignal: signal }),
  }
}
