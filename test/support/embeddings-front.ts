/** A front that serves every operation, embeddings for real: catalogue, embedder, gate, worker threads, and loopback providers that follow a script. */
import type { Test } from 'tap'
import { openEgress } from '../../src/server/egress/egress.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import type { Egress } from '../../src/server/ports/egress.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import type { Trace } from '../../src/schemas/trace.ts'
import { createEmbedder } from '../../src/server/upstream/embedder.ts'
import { catalogueOf } from './catalogue.ts'
import { AUTHORIZATION, openFront, threads, type TestFront } from './front.ts'
import { keptLog } from './log.ts'
import { startProvider, type ScriptedProvider } from './provider.ts'

export const PROVIDER_KEY = 'provider-key-0123456789'

export interface EmbeddingsFront extends TestFront {
  /** Providers of the model `acme/embed`, in the catalogue's order. */
  readonly first: ScriptedProvider
  readonly second: ScriptedProvider
  /** The one provider of `acme/cohere` and `acme/gemini`. */
  readonly foreign: ScriptedProvider
  readonly egress: Egress
  readonly log: ReturnType<typeof keptLog>
  readonly traced: readonly Trace[]
  /** Posts to /embeddings; members that are undefined are left out. */
  post(body: Record<string, unknown>, headers?: Readonly<Record<string, string>>): Promise<EmbeddingsReply>
  /** Resolves when nothing is under way any more, with what is still held. */
  rest(): Promise<{ readonly heldBytes: number; readonly calls: number }>
}

export interface EmbeddingsReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly data?: readonly { readonly embedding: readonly number[] | string; readonly index: number }[]
    readonly usage?: { readonly prompt_tokens: number; readonly total_tokens: number; readonly cost: number }
    readonly id?: string
    readonly error?: { readonly code: number; readonly message: string; readonly metadata: Readonly<Record<string, unknown>> }
  }
}

export interface FrontOptions {
  /** Milliseconds of an attempt at the first provider. */
  readonly timeoutMs?: number
  /** Milliseconds of a call. */
  readonly deadlineMs?: number
  readonly answersBytesMax?: number
  /** Origin of the provider of `acme/one`, instead of the first one. */
  readonly oneAt?: string
  /** Members that an endpoint of `acme/embed` has beside the usual ones. */
  readonly firstFacts?: Record<string, unknown>
  readonly secondFacts?: Record<string, unknown>
}

export async function openEmbeddings(t: Test, options: FrontOptions = {}): Promise<EmbeddingsFront> {
  const [first, second, foreign] = await Promise.all([startProvider(), startProvider(), startProvider()])
  const egress = openEgress(options.answersBytesMax === undefined ? {} : { answersBytesMax: options.answersBytesMax })
  const log = keptLog()
  const embedder = createEmbedder({
    egress,
    jobs: threads(),
    credentials: new Map([['SET_KEY', { reveal: () => PROVIDER_KEY }]]),
    log,
    meters: { upstream: () => undefined },
    now: () => performance.now(),
    random: () => 0.5,
  })
  const traced: Trace[] = []
  const observer = { log, settled: () => undefined, trace: (trace: Trace) => void traced.push(trace) }
  const models = catalogueOf(t, catalogueDocument({ first, second, foreign }, options))
  const ports: Ports = { models, embedder, observer }
  const operations = OPERATIONS.map((operation) => ({ ...operation, deadlineMs: options.deadlineMs ?? operation.deadlineMs }))
  const served = await openFront(t, operations, { ports })
  t.teardown(async () => {
    await egress.close()
    await Promise.all([first.close(), second.close(), foreign.close()])
  })
  return {
    ...served, first, second, foreign, egress, log, traced,
    post: (body, headers = {}) => post(served.url, body, headers),
    rest: async () => {
      while (egress.load.calls > 0) await new Promise((next) => setImmediate(next))
      return egress.load
    },
  }
}

async function post(url: string, body: Record<string, unknown>, headers: Readonly<Record<string, string>>): Promise<EmbeddingsReply> {
  const sent = { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers }
  const answer = await fetch(`${url}/api/v1/embeddings`, { method: 'POST', headers: sent, body: JSON.stringify(body) })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as EmbeddingsReply['body'] }
}

const EMBEDDINGS = { output_modalities: ['embeddings'] }
const MEDIA = { input_modalities: ['text', 'image', 'audio'], output_modalities: ['embeddings'] }
const ONE_USD_PER_MILLION = { prompt: '0.000001' }

function catalogueDocument(at: { first: ScriptedProvider; second: ScriptedProvider; foreign: ScriptedProvider }, options: FrontOptions): unknown {
  const key = { api_key_env: 'SET_KEY' }
  return {
    providers: [
      { slug: 'local', protocol: 'local' },
      { slug: 'first', name: 'First', protocol: 'openai', base_url: `${at.first.origin}/v1`, timeout_ms: options.timeoutMs ?? 20_000, ...key },
      { slug: 'second', name: 'Second', protocol: 'openai', base_url: `${at.second.origin}/v1`, rename: RENAMED, ...key },
      { slug: 'cohere', protocol: 'cohere', base_url: `${at.foreign.origin}/v2`, ...key },
      { slug: 'google', protocol: 'google', base_url: `${at.foreign.origin}/v1beta`, ...key },
      { slug: 'elsewhere', protocol: 'openai', base_url: `${options.oneAt ?? at.first.origin}/v1`, ...key },
      { slug: 'unset', protocol: 'openai', base_url: `${at.first.origin}/v1`, api_key_env: 'UNSET_KEY' },
    ],
    models: [
      {
        id: 'acme/embed', name: 'Embed', architecture: EMBEDDINGS, aliases: ['acme/e'], variants: ['floor'],
        endpoints: [
          { provider: 'first', upstream_model: 'embed-1', pricing: ONE_USD_PER_MILLION, ...options.firstFacts },
          { provider: 'second', upstream_model: 'embed-1', pricing: { prompt: '0.0000005' }, ...options.secondFacts },
        ],
      },
      { id: 'acme/one', name: 'One', architecture: EMBEDDINGS, endpoints: [{ provider: options.oneAt === undefined ? 'first' : 'elsewhere', upstream_model: 'one', pricing: ONE_USD_PER_MILLION }] },
      { id: 'acme/renamed', name: 'Renamed', architecture: EMBEDDINGS, endpoints: [{ provider: 'second', upstream_model: 'r', pricing: ONE_USD_PER_MILLION }] },
      { id: 'acme/free', name: 'Free', architecture: EMBEDDINGS, endpoints: [{ provider: 'first', upstream_model: 'free' }] },
      { id: 'acme/cohere', name: 'Cohere', architecture: MEDIA, endpoints: [{ provider: 'cohere', upstream_model: 'c', pricing: ONE_USD_PER_MILLION }] },
      { id: 'acme/gemini', name: 'Gemini', architecture: MEDIA, endpoints: [{ provider: 'google', upstream_model: 'g', pricing: ONE_USD_PER_MILLION }] },
      { id: 'acme/unset', name: 'Unset', architecture: EMBEDDINGS, endpoints: [{ provider: 'unset', upstream_model: 'u' }] },
      { id: 'acme/chat', name: 'Chat', architecture: { output_modalities: ['text'] }, endpoints: [{ provider: 'first', upstream_model: 'chat' }] },
      { id: 'sluice/lexical-1', name: 'Lexical', architecture: EMBEDDINGS, endpoints: [{ provider: 'local', upstream_model: 'lexical-1' }] },
    ],
  }
}

const RENAMED = { dimensions: 'output_dimension', 'input_type=search_query': 'query' }
