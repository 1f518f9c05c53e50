/** The subjects of the ladder, each in processes of its own, on the stores of one running node. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MALLOC } from '../../src/server/config.ts'
import { openStore } from '../../src/server/store/base/open.ts'
import { runtimeOf } from '../../src/server/supervisor/data-directory/data-directory.ts'
import { freePort, stopServer } from '../../test/support/nodes/spawned.ts'
import { tree, type ProcessRow } from '../../test/support/load/process-cpu.ts'
import { PROVIDER_KEY, type Stand } from '../../test/support/nodes/stand.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { startChild } from '../chat/child.ts'
import { FORMS } from '../chat/forms.ts'
import type { RelaySettings } from '../chat/relay.ts'
import { bodyOf, MODELS } from '../chat/subjects.ts'
import { startForked } from '../peers/forked.ts'
import { gatewayTarget } from '../gateway.ts'
import type { HeapWatch } from '../heap/heap.ts'
import { startBareRelay } from '../peers/relays.ts'
import type { Target } from '../target.ts'
import { kindOf } from '../transfers/resources.ts'
import type { FrontSettings } from './assemble.ts'
import { UNLOGGED, type LadderCall, type Rung } from './rungs.ts'

/** A subject whose processes are counted one by one. */
export interface LadderSubject extends Target {
  readonly below: string | null
  /** The process that serves the calls. */
  readonly serving: number
  /** Stores that work for the subject: none, those of the node, or its own, which are among its processes. */
  readonly stores: 'none' | 'shared' | 'own'
}

export interface LadderRig {
  readonly stand: Stand
  readonly call: LadderCall
  readonly providerPort: number
  readonly heap: HeapWatch
  readonly apiKey: string
  /** Base of a receiver of spans. */
  readonly spansTo: string
}

const FRONT = fileURLToPath(new URL('./front.js', import.meta.url))
/** The environment of the product's fronts. */
const FRONT_ENV = { ...MALLOC, UV_THREADPOOL_SIZE: '32' }

export async function startRelaySubject(
  name: 'relay' | 'lean-relay',
  { stand, heap, providerPort }: LadderRig,
): Promise<LadderSubject> {
  const { body } = stand.embeddings()
  const target = await startBareRelay(name, { providerPort, body, heap })
  return { ...target, below: name === 'relay' ? null : 'relay', serving: target.pid, stores: 'none' }
}

/** The relay of the scenario `chat`. */
export async function startChatRelay({ heap, call, providerPort }: LadderRig): Promise<LadderSubject> {
  const port = await freePort()
  const settings: RelaySettings = { port, providerPort }
  const child = await startChild('relay', settings, heap)
  const pid = child.pid ?? 0
  return {
    name: 'relay',
    pid,
    port,
    request: { ...chatRequest(call), path: FORMS.chat.path },
    note: 'uWebSockets.js and undici alone, in one process, each read one write: no keys, no limits, no checks, no metering, no log',
    below: null,
    serving: pid,
    stores: 'none',
    heap: () => heap.read(pid),
    stop: () => stopServer(child),
  }
}

/** The call of the ladder, as Sluice gets it. */
export function requestOf({
  stand,
  call,
  apiKey,
}: Pick<LadderRig, 'stand' | 'call' | 'apiKey'>): LoadRequest {
  if (call === 'embeddings') return stand.embeddings(apiKey)
  const { headers, ...request } = chatRequest(call)
  return { ...request, headers: { ...headers, authorization: `Bearer ${apiKey}` } }
}

function chatRequest(call: LadderCall): LoadRequest {
  return {
    method: 'POST',
    path: `/api${FORMS.chat.path}`,
    headers: { 'content-type': 'application/json' },
    body: bodyOf('chat', { model: MODELS.chat, isStream: call === 'event', events: null }),
  }
}

export async function startRung(
  { subject, part, parts, below }: Rung,
  rig: LadderRig,
): Promise<LadderSubject> {
  const { stand, heap, apiKey, spansTo, call, providerPort } = rig
  const runtime = runtimeOf(stand.dataDir)
  if (runtime === null) throw new Error('the node of the ladder does not run')
  const port = await freePort()
  const { databaseUrl, redis } = runtime
  const settings: FrontSettings = {
    port,
    call,
    parts,
    catalogFile: stand.catalogFile,
    provider: `http://127.0.0.1:${providerPort}`,
    providerKey: PROVIDER_KEY,
    databaseUrl,
    redis,
    apiKey,
    folder: join(stand.dataDir, '..', 'ladder', call, part.name),
    spansTo,
  }
  const { env, execArgv } = heap
  const child = await startForked(FRONT, settings, {
    name: `front up to ${part.name}`,
    env: { ...FRONT_ENV, ...env },
    execArgv,
    isQuiet: true,
  })
  const pid = child.pid ?? 0
  return {
    name: subject,
    pid,
    port,
    request: requestOf(rig),
    note: `with ${part.name}: ${part.text}`,
    below,
    serving: pid,
    stores: parts.includes('rate') || parts.includes('money') ? 'shared' : 'none',
    heap: () => heap.read(pid),
    stop: () => stopServer(child),
  }
}

type NodeRig = Pick<LadderRig, 'stand' | 'heap' | 'apiKey' | 'call'>

export function nodeSubject(rig: NodeRig, below: string | null): LadderSubject {
  const { stand, heap } = rig
  const serving = stand.fronts()[0] ?? 0
  return {
    ...gatewayTarget(stand),
    request: requestOf(rig),
    note: 'the whole node with one front: supervisor, front, spare, runner, embedded Postgres and Redis',
    below,
    serving,
    stores: 'own',
    heap: () => heap.read(serving),
  }
}

/** A node of its own that keeps no request log; its stand ends with it. */
export function unloggedSubject(rig: NodeRig, below: string | null): LadderSubject {
  return {
    ...nodeSubject(rig, below),
    name: UNLOGGED,
    note: 'another whole node, whose request log is off (SLUICE_KEEP_REQUESTS=off)',
    stop: () => rig.stand.stop(),
  }
}

/** Every process that works for the subject, and maybe for others. */
export function processesOf({ pid, stores }: LadderSubject, stand: Stand): readonly ProcessRow[] {
  if (stores !== 'shared') return tree(pid)
  return [...tree(pid), ...tree(stand.pid).filter((row) => ['postgres', 'redis'].includes(kindOf(row)))]
}

/**
 * Lets a node's runner find nothing to compare between its request log and the ledger: rungs pay from the same
 * ledger without that log, and each of their calls would count as lost.
 */
export async function holdComparison({ dataDir }: Pick<Stand, 'dataDir'>): Promise<void> {
  const url = runtimeOf(dataDir)?.databaseUrl
  if (url === undefined) throw new Error('the node of the ladder does not run')
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-bench' })
  try {
    await store.sql`UPDATE request_marks SET through = 'infinity'`
  } finally {
    await store.close()
  }
}
