/**
 * A front that serves every operation, embeddings for real: catalogue, embedder, gate, worker threads, and
 * loopback providers that follow a script.
 */
import type { Test } from 'tap'
import { PROVIDER_TIMEOUT_MS_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { HttpOptions } from '../../../src/server/http/front.ts'
import { Timers } from '../../../src/server/http/timers.ts'
import type { Egress } from '../../../src/server/ports/egress/egress.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type { Spend } from '../../../src/server/ports/money/money.ts'
import type { BreakerReading } from '../../../src/server/ports/observe.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import type { Trace } from '../../../src/schemas/trace.ts'
import { scanMemory } from '../../../src/workers/scan-memory.ts'
import { createEmbedder } from '../../../src/server/inference/embedder.ts'
import { catalogueOf } from '../models/catalogue.ts'
import { accessTo, AUTHORIZATION, keyRecords, openFront, patient, threads, type TestFront } from '../front.ts'
import { keptLog } from '../log.ts'
import { startProvider, type ScriptedProvider } from './provider.ts'
import { NO_FILES } from '../files/no-files.ts'
import { operationsWithin } from '../operations-within.ts'

export const PROVIDER_KEY = 'provider-key-0123456789'

export interface EmbeddingsFront extends TestFront {
  /** Providers of the model `acme/embed`, in the catalogue's order. */
  readonly first: ScriptedProvider
  readonly second: ScriptedProvider
  /** The one provider of `acme/cohere` and `acme/gemini`. */
  readonly foreign: ScriptedProvider
  readonly egress: Egress
  readonly log: ReturnType<typeof keptLog>
  breakers(): readonly BreakerReading[]
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
    readonly error?: {
      readonly code: number
      readonly message: string
      readonly metadata: Readonly<Record<string, unknown>>
    }
  }
}

export interface FrontOptions {
  /** Milliseconds of an attempt at the first provider; without it more than any test takes. */
  readonly timeoutMs?: number
  /** Milliseconds of a call; without it more than any test takes, and no body stalls. */
  readonly deadlineMs?: number
  /** What the breakers' rests are measured by. */
  readonly now?: () => number
  readonly answersBytesMax?: number
  /** Origin of the provider of `acme/one`, instead of the first one. */
  readonly oneAt?: string
  /** Members of the first provider besides the usual ones. */
  readonly firstProvider?: Record<string, unknown>
  /** Members of an endpoint of `acme/embed` besides the usual ones. */
  readonly firstFacts?: Record<string, unknown>
  readonly secondFacts?: Record<string, unknown>
  /** Members of the endpoint of `acme/cohere` besides the usual ones. */
  readonly foreignFacts?: Record<string, unknown>
  /** Variables that are set besides SET_KEY. */
  readonly settings?: Readonly<Record<string, string>>
  /** Without it every call may be paid. */
  readonly spend?: Spend
  readonly modelCalls?: Ports['modelCalls']
  /** Without it no workspace has presets. */
  readonly presetConfigs?: Ports['presetConfigs']
  /** Facts that every key has. */
  readonly keys?: Partial<KeyRecord>
  /** Keys of the test's own. */
  readonly access?: HttpOptions['access']
}

export async function openEmbeddings(t: Test, options: FrontOptions = {}): Promise<EmbeddingsFront> {
  const [first, second, foreign] = await Promise.all([startProvider(), startProvider(), startProvider()])
  const { answersBytesMax } = options
  // Every test of embeddings sees whether lent bytes are kept too long.
  const egress = openEgress({
    isPoisoned: true,
    readMemory: scanMemory(),
    ...(answersBytesMax !== undefined && { answersBytesMax }),
  })
  const log = keptLog()
  const credentials = new Map<string, { reveal(): string }>([['SET_KEY', { reveal: () => PROVIDER_KEY }]])
  const embedder = createEmbedder({
    egress,
    jobs: threads(),
    credentials,
    log,
    meters: { upstream: () => undefined },
    now: options.now ?? (() => performance.now()),
    random: () => 0.5,
  })
  const traced: Trace[] = []
  const observer = { log, settled: () => undefined, trace: (trace: Trace) => void traced.push(trace) }
  const models = catalogueOf(t, catalogueDocument({ first, second, foreign }, options))
  const { spend, presetConfigs, modelCalls } = options
  if (options.settings !== undefined)
    for (const [name, value] of Object.entries(options.settings))
      credentials.set(name, { reveal: () => value })
  const ports: Ports = {
    models,
    embedder,
    observer,
    ...NO_FILES,
    ...(spend && { spend }),
    ...(modelCalls && { modelCalls }),
    ...(presetConfigs && { presetConfigs }),
  }
  const operations = operationsWithin(options.deadlineMs ?? PROVIDER_TIMEOUT_MS_MAX)
  const served = await openFront(t, operations, {
    ports,
    access: options.access ?? accessTo(keyRecords(options.keys)),
    timers: options.deadlineMs === undefined ? patient() : new Timers(),
  })
  t.teardown(async () => {
    await egress.close()
    await Promise.all([first.close(), second.close(), foreign.close()])
  })
  return {
    ...served,
    first,
    second,
    foreign,
    egress,
    log,
    breakers: () => embedder.breakers(),
    traced,
    post: (body, headers = {}) => post(served.url, body, headers),
    rest: async () => {
      while (egress.load.calls > 0) await new Promise((next) => setImmediate(next))
      return egress.load
    },
  }
}

async function post(
  url: string,
  body: Record<string, unknown>,
  headers: Readonly<Record<string, string>>,
): Promise<EmbeddingsReply> {
  const sent = { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers }
  const answer = await fetch(`${url}/api/v1/embeddings`, {
    method: 'POST',
    headers: sent,
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: JSON.parse(text) as EmbeddingsReply['body'],
  }
}

/** The most that a catalogue may give: on a slow machine a large answer takes its time. */
const ATTEMPT_MS = PROVIDER_TIMEOUT_MS_MAX

type Members = Readonly<Record<string, unknown>>

const TO_VECTORS = { output_modalities: ['embeddings'] }
const MEDIA_TO_VECTORS = { input_modalities: ['text', 'image', 'audio'], output_modalities: ['embeddings'] }
const ONE_USD_PER_MILLION = { prompt: '0.000001' }
const RENAMED = { dimensions: 'output_dimension', 'input_type=search_query': 'query' }

interface Providers {
  readonly first: ScriptedProvider
  readonly second: ScriptedProvider
  readonly foreign: ScriptedProvider
}

function catalogueDocument(at: Providers, options: FrontOptions): unknown {
  const oneAt = options.oneAt ?? at.first.origin
  return {
    providers: [
      { slug: 'local', protocol: 'local' },
      provider('first', `${at.first.origin}/v1`, {
        name: 'First',
        timeout_ms: options.timeoutMs ?? ATTEMPT_MS,
        ...options.firstProvider,
      }),
      provider('second', `${at.second.origin}/v1`, {
        name: 'Second',
        rename: RENAMED,
        timeout_ms: ATTEMPT_MS,
      }),
      provider('cohere', `${at.foreign.origin}/v2`, { protocol: 'cohere', timeout_ms: ATTEMPT_MS }),
      provider('google', `${at.foreign.origin}/v1beta`, { protocol: 'google', timeout_ms: ATTEMPT_MS }),
      provider('elsewhere', `${oneAt}/v1`, { timeout_ms: ATTEMPT_MS }),
      provider('unset', `${at.first.origin}/v1`, { api_key_env: 'UNSET_KEY' }),
    ],
    models: [
      {
        ...model('acme/embed', []),
        aliases: ['acme/e'],
        variants: ['floor'],
        endpoints: [
          endpoint('first/embed-1', { ...options.firstFacts }),
          endpoint('second/embed-1', { pricing: { prompt: '0.0000005' }, ...options.secondFacts }),
        ],
      },
      model('acme/one', [endpoint(options.oneAt === undefined ? 'first/one' : 'elsewhere/one')]),
      model('acme/renamed', [endpoint('second/r')]),
      model('acme/free', [{ provider: 'first', upstream_model: 'free' }]),
      model('acme/cohere', [endpoint('cohere/c', { ...options.foreignFacts })], MEDIA_TO_VECTORS),
      model('acme/gemini', [endpoint('google/g')], MEDIA_TO_VECTORS),
      model('acme/unset', [endpoint('unset/u')]),
      model('acme/chat', [endpoint('first/chat')], { output_modalities: ['text'] }),
      model('sluice/lexical-1', [{ provider: 'local', upstream_model: 'lexical-1', free: true }]),
    ],
  }
}

function provider(slug: string, baseUrl: string, more: Members): Members {
  return { slug, protocol: 'openai', base_url: baseUrl, api_key_env: 'SET_KEY', ...more }
}

function model(id: string, endpoints: readonly Members[], architecture: Members = TO_VECTORS): Members {
  return { id, name: id, architecture, endpoints }
}

/** @param tag provider and upstream model */
function endpoint(tag: string, more: Members = {}): Members {
  const [slug, upstreamModel] = tag.split('/')
  return { provider: slug, upstream_model: upstreamModel, pricing: ONE_USD_PER_MILLION, ...more }
}
