/** The servers of the scenario `chat`, all before one paced provider. */
import type { ChildProcess } from 'node:child_process'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { freePort, stopServer } from '../../test/support/nodes/spawned.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { startNginx, startPortkey, type Upstream } from '../peers.ts'
import type { Absent, Target } from '../target.ts'
import { ROOT } from '../text.ts'
import { startChild } from './child.ts'
import { FORMS, isTranslated, type BenchForm, type Pair } from './forms.ts'
import type { ChatTarget } from './options.ts'
import type { RelaySettings } from './relay.ts'

export interface Subject extends Omit<Target, 'request'> {
  /** The form in which it is called; null: it does not have the pair. */
  formOf(pair: Pair): BenchForm | null
  /** The call without its body. */
  callOf(pair: Pair): Pick<LoadRequest, 'method' | 'path' | 'headers'>
  /** Name of the model of a pair. */
  modelOf(pair: Pair): string
}

/** Models of the stand, by the form of their provider. */
export const MODELS: Readonly<Record<BenchForm, string>> = { chat: 'bench/chat', messages: 'bench/messages' }

const UPSTREAM_MODEL = 'bench-model'
const JSON_HEADERS = { 'content-type': 'application/json', authorization: 'Bearer bench' }
const MESSAGES = [{ role: 'user', content: 'The quick brown fox jumps over the lazy dog.' }]
/** The word that Portkey has for a provider of a form. */
const PORTKEY_PROVIDERS: Readonly<Record<BenchForm, string>> = { chat: 'openai', messages: 'anthropic' }

export interface SubjectsInput {
  readonly pacer: ChildProcess
  readonly pacerPort: number
  readonly stand: Stand
}

export function starters({
  pacer,
  pacerPort,
  stand,
}: SubjectsInput): Readonly<Record<ChatTarget, () => Promise<Subject | Absent>>> {
  const upstream: Upstream = { port: pacerPort, embeddings: '', chat: '', isStream: true }
  return {
    direct: () => Promise.resolve(direct(pacer, pacerPort)),
    nginx: async () => asProvider(await startNginx(upstream)),
    relay: () => startRelay(pacerPort),
    sluice: () => Promise.resolve(gateway(stand)),
    portkey: async () => asPortkey(await startPortkey(ROOT, upstream)),
  }
}

/** The body of a call. @param events null: as many as the pacer's streams have */
export function bodyOf(
  form: BenchForm,
  {
    model,
    isStream,
    events,
  }: { readonly model: string; readonly isStream: boolean; readonly events: number | null },
): string {
  // The form of messages has no default.
  const most = events ?? (form === 'messages' ? TOKENS_MAX : null)
  return JSON.stringify({
    model,
    messages: MESSAGES,
    ...(isStream ? { stream: true } : null),
    ...(most === null ? null : { max_tokens: most }),
  })
}

/** Above every stream's events. */
const TOKENS_MAX = 16_384

/** What passes the provider's own answer on. */
const OF_PROVIDER: Pick<Subject, 'formOf' | 'callOf' | 'modelOf'> = {
  formOf: ({ provider }) => provider,
  callOf: ({ provider }) => ({ method: 'POST', path: FORMS[provider].path, headers: JSON_HEADERS }),
  modelOf: () => UPSTREAM_MODEL,
}

function asProvider(target: Target | Absent): Subject | Absent {
  return 'absent' in target ? target : { ...target, ...OF_PROVIDER }
}

function direct(pacer: ChildProcess, port: number): Subject {
  return {
    name: 'direct',
    pid: pacer.pid ?? 0,
    port,
    ...OF_PROVIDER,
    note: 'the provider without anything in between',
    stop: () => Promise.resolve(),
  }
}

async function startRelay(providerPort: number): Promise<Subject> {
  const port = await freePort()
  const asked: RelaySettings = { port, providerPort }
  const child = await startChild('relay', asked)
  return {
    name: 'relay',
    pid: child.pid ?? 0,
    port,
    ...OF_PROVIDER,
    note: 'uWebSockets.js and undici, each read one write: no checks, no back-pressure, no errors, no metering',
    stop: () => stopServer(child),
  }
}

/** Its providers of chat have no words for callers of messages. */
function asPortkey(target: Target | Absent): Subject | Absent {
  if ('absent' in target) return target
  const { headers } = target.request
  return {
    ...target,
    formOf: (pair) => (isTranslated(pair) && pair.caller !== 'chat' ? null : pair.caller),
    callOf: ({ caller, provider }) => ({
      method: 'POST',
      path: FORMS[caller].path,
      headers: { ...headers, 'x-portkey-provider': PORTKEY_PROVIDERS[provider] },
    }),
    modelOf: () => UPSTREAM_MODEL,
  }
}

function gateway({ pid, port, keys }: Stand): Subject {
  return {
    name: 'sluice',
    pid,
    port,
    formOf: ({ caller }) => caller,
    callOf: ({ caller }) => ({
      method: 'POST',
      path: `/api${FORMS[caller].path}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.inference_key}` },
    }),
    modelOf: ({ provider }) => MODELS[provider],
    note: 'the whole node with one front: supervisor, front, runner, embedded Postgres and Redis; every event read, usage and cost metered',
    stop: () => Promise.resolve(),
  }
}

/** The models of the stand, on the paced provider. */
export function catalogue(pacerPort: number): object {
  const pricing = { prompt: '0.000001', completion: '0.000002' }
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  const providers = { chat: 'openai', messages: 'anthropic' } satisfies Record<BenchForm, string>
  const forms = Object.entries(providers) as [BenchForm, string][]
  return {
    providers: forms.map(([form, protocol]) => ({
      slug: `paced-${form}`,
      name: 'Paced',
      protocol,
      base_url: `http://127.0.0.1:${pacerPort}/v1`,
    })),
    models: forms.map(([form]) => ({
      id: MODELS[form],
      name: 'Paced',
      architecture,
      context_length: 128_000,
      endpoints: [{ provider: `paced-${form}`, upstream_model: UPSTREAM_MODEL, pricing }],
    })),
  }
}
