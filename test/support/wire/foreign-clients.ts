/** Clients of other vendors, from a folder with a lock file of its own: `tools/clients`. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../source.ts'

const { install } = (await import(pathToFileURL(join(ROOT, 'tools/install.mjs')).href)) as {
  install(folder: string): Promise<void>
}
const FOLDER = join(ROOT, 'tools/clients')

/** Installs the packages of the folder where they are not there. */
export function installClients(): Promise<void> {
  return install(FOLDER)
}

/** A module of a package of the folder, which is installed first where it is not there. */
export async function load(name: string): Promise<unknown> {
  return import(pathToFileURL(await locate(name)).href)
}

/** The file of a module of a package of the folder. */
export async function locate(name: string): Promise<string> {
  await installClients()
  return createRequire(join(FOLDER, 'package.json')).resolve(name)
}

interface Reached {
  readonly baseUrl: string
  readonly apiKey: string
}

/**
 * What the tests use of `@openrouter/sdk`; it refuses every answer that is not of the shape that it knows.
 */
export interface OpenRouterClient {
  readonly endpoints: {
    list(asked: {
      readonly author: string
      readonly slug: string
    }): Promise<{ readonly data: ListedEndpoints }>
  }
  readonly chat: {
    send(asked: {
      readonly chatRequest: Readonly<Record<string, unknown>> & { readonly stream: true }
    }): Promise<AsyncIterable<SentChunk>>
    send(asked: { readonly chatRequest: Readonly<Record<string, unknown>> }): Promise<SentAnswer>
  }
  readonly generations: {
    getGeneration(asked: { readonly id: string }): Promise<{ readonly data: ReadGeneration }>
  }
  readonly models: {
    list(): Promise<AsyncIterable<{ readonly result: { readonly data: readonly { readonly id: string }[] } }>>
  }
}

interface ReadGeneration {
  readonly id: string
  readonly model: string
  readonly finishReason: string | null
  readonly nativeTokensPrompt: number | null
  readonly nativeTokensCompletion: number | null
}

interface SentChunk {
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[]
  readonly usage?: { readonly totalTokens: number; readonly cost?: number | null }
  readonly error?: { readonly code: number; readonly message: string }
}

interface SentAnswer {
  readonly id: string
  readonly choices: readonly {
    readonly finishReason: string | null
    readonly message: { readonly content?: unknown; readonly toolCalls?: readonly object[] }
  }[]
  readonly usage?: { readonly totalTokens: number }
}

interface ListedEndpoints {
  readonly id: string
  readonly architecture: { readonly tokenizer: string | null }
  readonly endpoints: readonly { readonly modelId: string }[]
}

/** What the tests use of `@anthropic-ai/sdk`. */
export interface AnthropicClient {
  readonly beta: {
    readonly files: {
      list(asked: object): AsyncIterable<{ readonly id: string; readonly filename: string }>
      retrieveMetadata(id: string): Promise<{ readonly id: string; readonly size_bytes: number }>
      delete(id: string): Promise<{ readonly id: string }>
    }
  }
}

/** @param reached.baseUrl without the `/v1` that the client adds */
export async function anthropicClient({ baseUrl: baseURL, apiKey }: Reached): Promise<AnthropicClient> {
  const { default: Anthropic } = (await load('@anthropic-ai/sdk')) as {
    default: new (options: object) => AnthropicClient
  }
  return new Anthropic({ baseURL, apiKey, maxRetries: 0 })
}

export async function openRouterClient({ baseUrl, apiKey }: Reached): Promise<OpenRouterClient> {
  const { OpenRouter } = (await load('@openrouter/sdk')) as {
    OpenRouter: new (options: object) => OpenRouterClient
  }
  return new OpenRouter({ serverURL: baseUrl, apiKey, retryConfig: { strategy: 'none' } })
}

type AnyCall = (...asked: readonly unknown[]) => Promise<unknown>

/** The same client by the names of its groups and methods, for calls of all of them. */
export type AnyOpenRouterClient = Readonly<Record<string, Readonly<Record<string, AnyCall>>>>

export async function anyOpenRouterClient(reached: Reached): Promise<AnyOpenRouterClient> {
  return (await openRouterClient(reached)) as unknown as AnyOpenRouterClient
}

/** Checks of `@openrouter/sdk` for what it reads: each throws at what the client refuses. */
export interface OpenRouterShapes {
  chunk(value: unknown): void
  answer(value: unknown): void
  /** An event of responses; also throws at one that the client gives its user as unknown. */
  event(value: unknown): void
  response(value: unknown): void
}

export async function openRouterShapes(): Promise<OpenRouterShapes> {
  type Shapes = Readonly<Record<string, { parse(value: unknown): unknown }>>
  const chunks = (await load('@openrouter/sdk/models/chatstreamchunk.js')) as Shapes
  const answers = (await load('@openrouter/sdk/models/chatresult.js')) as Shapes
  const events = (await load('@openrouter/sdk/models/streamevents.js')) as Shapes
  const responses = (await load('@openrouter/sdk/models/openresponsesresult.js')) as Shapes
  return {
    chunk: (value) => chunks['ChatStreamChunk$inboundSchema']?.parse(value),
    answer: (value) => answers['ChatResult$inboundSchema']?.parse(value),
    event(value) {
      const read = events['StreamEvents$inboundSchema']?.parse(value) as { readonly isUnknown?: boolean }
      if (read.isUnknown === true) throw new Error('the client does not know the event')
    },
    response: (value) => responses['OpenResponsesResult$inboundSchema']?.parse(value),
  }
}
