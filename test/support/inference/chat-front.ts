/** A front that serves every operation, chat for real: the shipped catalogue, and worker threads. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type { ModelCatalogue } from '../../../src/server/ports/models/models.ts'
import type { StreamMeters } from '../../../src/server/ports/observe.ts'
import type { Spend } from '../../../src/server/ports/money/money.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import type { Generations } from '../../../src/server/ports/inference/generations.ts'
import type { Inference } from '../../../src/server/ports/inference/inference.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { Egress } from '../../../src/server/ports/egress/egress.ts'
import { Timers } from '../../../src/server/http/timers.ts'
import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { TextPlan } from '../../../src/server/inference/plan.ts'
import type { InferenceEnd } from '../../../src/server/inference/record.ts'
import { CollectedText, StreamedText } from '../../../src/server/inference/replies.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { endedBy } from '../../../src/schemas/values/call-ended.ts'
import { createInference, type InferenceOptions } from '../../../src/server/inference/inference.ts'
import { accessTo, AUTHORIZATION, keyRecords, openFront, patient, threads, type TestFront } from '../front.ts'
import { keptLog } from '../log.ts'
import { catalogueOf } from '../models/catalogue.ts'
import { FREE_SPEND } from '../money/free-spend.ts'
import { NO_FILES } from '../files/no-files.ts'
import { operationsWithin } from '../operations-within.ts'
import { ROOT } from '../source.ts'
import type { Teardown } from '../teardown.ts'
import { flatPrices } from './bounded-endpoints.ts'

type KeptLog = ReturnType<typeof keptLog>

/** More than any test takes. */
const NEVER_MS = 2 ** 30

export interface ChatFront extends TestFront {
  /** Posts to the path of the options. */
  post(body: object, headers?: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response>
}

export interface ChatFrontOptions {
  /** Below the prefix of the API; `/chat/completions` unless given. */
  readonly path?: string
  readonly spend?: Spend
  readonly modelCalls?: Ports['modelCalls']
  /** Facts that every key has. */
  readonly keys?: Partial<KeyRecord>
  /** Milliseconds of a call; without it more than any test takes. */
  readonly deadlineMs?: number
  /** A catalogue that extends the shipped one. */
  readonly extra?: unknown
  /** Stands for the models. */
  readonly inference?: Inference
  /** Without it no model embeds. */
  readonly embedder?: Ports['embedder']
  readonly log?: KeptLog
  /** Without them no stall and no silence ends anything, unless there is a deadline. */
  readonly timers?: Timers
  /** Receives the records of calls. */
  readonly generations?: Generations
  readonly presetConfigs?: Ports['presetConfigs']
  readonly regionalHosts?: readonly string[]
  /** Files of the workspace. */
  readonly files?: Pick<Ports, 'files' | 'transfers'>
  /** Every endpoint is under this key, which is the workspace's own. */
  readonly ownKey?: string
}

export async function openChat(t: Teardown, options: ChatFrontOptions = {}): Promise<ChatFront> {
  const catalogue = JSON.parse(readFileSync(`${ROOT}catalog.json`, 'utf8')) as Record<string, unknown>
  const { log = keptLog(), extra } = options
  const models = catalogueOf(t, catalogue, { extra })
  const { ownKey } = options
  const ports = {
    ...NO_FILES,
    ...options.files,
    models,
    ...(ownKey === undefined ? null : { privateModels: { of: () => underKey(models, ownKey) } }),
    inference: options.inference ?? builtIn(t, log),
    observer: { log, settled: () => undefined, trace: () => undefined },
    spend: options.spend ?? FREE_SPEND,
    ...(options.modelCalls && { modelCalls: options.modelCalls }),
    ...(options.embedder && { embedder: options.embedder }),
    ...(options.generations === undefined ? null : { generations: options.generations }),
    ...(options.presetConfigs && { presetConfigs: options.presetConfigs }),
  } as unknown as Ports
  const { deadlineMs } = options
  const operations = deadlineMs === undefined ? OPERATIONS : operationsWithin(deadlineMs)
  const front = await openFront(t, operations, {
    ports,
    access: accessTo(keyRecords(options.keys)),
    ...(options.regionalHosts && { regionalHosts: options.regionalHosts }),
    timers: options.timers ?? (deadlineMs === undefined ? patient() : new Timers()),
  })
  return {
    ...front,
    post: (body, headers = {}, signal) =>
      fetch(`${front.url}/api/v1${options.path ?? '/chat/completions'}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal === undefined ? null : { signal }),
      }),
  }
}

/** The models of a workspace with a key of its own for every provider. */
function underKey(models: ModelCatalogue, key: string): Pick<ModelCatalogue, 'resolve'> {
  const secret = new Secret(key)
  const ownWay = {
    destination: null,
    secretName: 'KEY',
    released: secret,
    release: () => Promise.resolve(ok(secret)),
  }
  return {
    resolve(name) {
      const model = models.resolve(name)
      return model && { ...model, endpoints: model.endpoints.map((one) => ({ ...one, ownWay })) }
    },
  }
}

/** The models of the shipped catalogue without any provider's key. */
function builtIn(t: Teardown, log: KeptLog): Inference {
  const egress = openEgress()
  t.teardown(() => egress.close())
  return inferenceWith({ egress, credentials: new Map(), log })
}

/** What calls to providers need. */
export interface InferenceParts {
  readonly egress: Egress
  readonly credentials: InferenceOptions['credentials']
  readonly log: KeptLog
  readonly streamHoldMs?: number
  readonly now?: () => number
  readonly streams?: StreamMeters
}

const none = (): void => undefined
/** Meters that count nothing. */
export const NO_STREAM_METERS: StreamMeters = {
  of: () => ({ committed: none, wrote: none, ended: none, answered: none, called: none }),
}

/** Models as a front has them. */
export function inferenceWith({
  streamHoldMs = NEVER_MS,
  now = () => performance.now(),
  streams = NO_STREAM_METERS,
  ...parts
}: InferenceParts): ReturnType<typeof createInference> {
  return createInference({
    ...parts,
    jobs: threads(),
    meters: { upstream: () => undefined, streams },
    now,
    random: () => 0.5,
    streamHoldMs,
  })
}

const NO_PRESET: Inference['withPreset'] = () => Promise.resolve({ ok: false, failure: { name: 'busy' } })

/** A model that waits until its call ends. */
export const STUCK: Inference = {
  withPreset: NO_PRESET,
  count: () => Promise.resolve({ ok: false, failure: { name: 'count_unavailable' } }),
  answer: async ({ call }) => {
    if (!call.signal.aborted) await once(call.signal, 'abort')
    return { ok: false, failure: endedBy(call.signal) }
  },
}

/** The data of the events of a stream, and whether `[DONE]` ended it. */
export function eventsOf(text: string): { readonly chunks: readonly Chunk[]; readonly isDone: boolean } {
  const data = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length))
  const isDone = data.at(-1) === '[DONE]'
  return { chunks: data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one) as Chunk), isDone }
}

export interface Chunk {
  readonly id: string
  readonly object: string
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: {
      readonly role?: string
      readonly content?: string
      readonly reasoning?: string
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: string
        readonly function: { readonly name?: string; readonly arguments: string }
      }[]
    }
    readonly finish_reason: string | null
  }[]
  readonly usage?: Readonly<Record<string, unknown>>
  readonly error?: Readonly<Record<string, unknown>>
}

const UNTOLDOnce = { upstreamId: null, finishReason: null, reported: {}, price: flatPrices() }

const BY = {
  model: 'sluice/echo-1',
  provider: 'local',
  isByok: false,
  isUnpriced: false,
  unpricedTier: null,
  attempts: 1,
  dropped: [],
}

/** What a model has written that breaks off after a word. */
const BROKEN: InferenceEnd = {
  ...BY,
  failure: { name: 'draining' },
  usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
  isEstimated: true,
  costNano: 7,
  upstreamMs: 1,
  answer: null,
  finalEvents: null,
  ...UNTOLDOnce,
}

class BreakingStream extends StreamedText {
  protected override run(): Promise<Outcome<InferenceEnd>> {
    this.firstOutput(BY)
    this.take([{ kind: 'text', choice: 0, text: 'half' }])
    return Promise.resolve(ok(BROKEN))
  }
}

class BreakingText extends CollectedText {
  protected override run(): Promise<Outcome<InferenceEnd>> {
    return Promise.resolve(ok(BROKEN))
  }
}

/** A plan without endpoints. */
export const NO_PLAN = {
  bound: { paidNano: 10, anyNano: 10 },
  shared: { meters: { streams: NO_STREAM_METERS } },
  estimatedTokens: () => 100,
  affordableTokens: () => null,
} as unknown as TextPlan

/** A model that writes a word, and breaks off. */
export const BREAKING: Inference = {
  withPreset: NO_PRESET,
  count: () => Promise.resolve({ ok: false, failure: { name: 'count_unavailable' } }),
  answer: (job, form, ports) => {
    const input = { plan: { ...NO_PLAN, job } as TextPlan, form, ports }
    return (job.request.isStream ? new BreakingStream(input) : new BreakingText(input)).pay()
  },
}
