/**
 * Attacks with an endpoint of the attacker's own: streams without end, and calls whose translation is long.
 * Each is also read past Sluice, straight from the provider, for comparison.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Ask } from '../../test/prove/keys/isolation/owners.ts'
import { plainEnvironment } from '../../test/support/load/load.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { stopServer } from '../../test/support/nodes/spawned.ts'
import { FLOODS, type FloodKind } from './flood.ts'
import type { FloodRead, FloodReaders } from './flood-readers.ts'

export interface Flood {
  /** Description for the report. */
  readonly text: string
  readonly connections: number
  /** Below `/api/v1` at Sluice and below `/v1` at the provider. */
  readonly path: string
  readonly body: string
}

const TOOL_CALLS = 2_000
const TURNS = 4_096

function streamed(kind: FloodKind): Pick<Flood, 'path' | 'body'> {
  const body = { model: `flood-${kind}`, stream: true, messages: [{ role: 'user', content: 'x' }] }
  return { path: '/chat/completions', body: JSON.stringify(body) }
}

/** Calls and results of tools as Anthropic's form has them; the endpoint speaks chat. */
function toolCalls(): Pick<Flood, 'path' | 'body'> {
  const ids = Array.from({ length: TOOL_CALLS }, (_, nth) => `toolu_${nth}`)
  const body = {
    model: 'flood-tools',
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
      {
        role: 'user',
        content: ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'x' })),
      },
    ],
  }
  return { path: '/messages', body: JSON.stringify(body) }
}

function turns(): Pick<Flood, 'path' | 'body'> {
  const messages = Array.from({ length: TURNS }, (_, nth) => ({
    role: nth % 2 === 0 ? 'user' : 'assistant',
    content: 'x',
  }))
  return { path: '/messages', body: JSON.stringify({ model: 'flood-turns', max_tokens: 5, messages }) }
}

const CONNECTIONS = [1, 4, 64] as const

const CALLS = {
  'stream-comments': { what: 'streams of comments without end', ...streamed('comments') },
  'stream-events': { what: 'streams of events of 45 bytes without end', ...streamed('events') },
  'tool-calls': { what: `translated calls with ${TOOL_CALLS} calls of tools`, ...toolCalls() },
  turns: { what: `translated calls with ${TURNS} turns`, ...turns() },
}

export type FloodName = `${keyof typeof CALLS}-${(typeof CONNECTIONS)[number]}`

export const FLOOD_ATTACKS = Object.fromEntries(
  Object.entries(CALLS).flatMap(([name, { what, path, body }]) =>
    CONNECTIONS.map((connections) => [
      `${name}-${connections}`,
      { text: `${what}, ${connections} at once`, connections, path, body },
    ]),
  ),
) as Readonly<Record<FloodName, Flood>>

const MODELS = [...Object.keys(FLOODS).map((kind) => `flood-${kind}`), 'flood-tools', 'flood-turns']
const SECRET = 'flood_key'

/** The attacker's provider, and its models as private endpoints of the attacker's organization. */
export interface FloodProvider {
  readonly port: number
  stop(): Promise<void>
}

/** What an attack needs of the organization that attacks. */
interface Attacker {
  readonly management: string
  readonly workspaceId: string
  readonly inference: string
  made(key: string, input: Ask): Promise<Readonly<Record<string, unknown>>>
}

export async function startFloodProvider(): Promise<FloodProvider> {
  const child = forked('./flood.js')
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)))
    child.once('exit', () => reject(new Error("the attacker's provider did not start")))
  })
  return { port, stop: () => stopServer(child) }
}

export async function addFloodEndpoints(attacker: Attacker, port: number): Promise<void> {
  await attacker.made(attacker.inference, {
    method: 'PUT',
    path: `/api/v1/vault/secrets/${SECRET}`,
    body: { hosts: ['localhost'], value: 'a-provider-key' },
  })
  for (const model of MODELS) {
    const path = '/api/v1/private-endpoints'
    const { id } = await attacker.made(attacker.management, {
      method: 'POST',
      path,
      body: {
        model_permaslug: `flood/${model}`,
        provider_slug: 'openai-compatible',
        upstream_model_id: model,
        base_url: `https://localhost:${port}/v1`,
        secret_name: SECRET,
        forms: ['chat'],
        pricing: { prompt: '0.0000002', completion: '0.0000006' },
      },
    })
    for (const step of ['validate', 'activate']) {
      const body = step === 'validate' ? { workspace_id: attacker.workspaceId } : undefined
      const found = await attacker.made(attacker.management, {
        method: 'POST',
        path: `${path}/${String(id)}/${step}`,
        body,
      })
      if (found['passed'] === false) throw new Error(`${model} is not validated: ${JSON.stringify(found)}`)
    }
  }
}

/** @returns a function that ends the calls */
export async function startFlood(
  { attacker, port, flood }: { attacker: Attacker; port: number; flood: FloodProvider },
  attack: Flood,
  where: 'sluice' | 'past',
): Promise<() => Promise<FloodRead>> {
  const isPast = where === 'past'
  const asked: LoadRequest = {
    method: 'POST',
    path: `${isPast ? '/v1' : '/api/v1'}${attack.path}`,
    headers: { authorization: `Bearer ${attacker.inference}`, 'content-type': 'application/json' },
    body: isPast ? attack.body : attack.body.replace('"model":"', '"model":"flood/'),
  }
  const child = forked('./flood-readers.js')
  const plan: FloodReaders = {
    port: isPast ? flood.port : port,
    connections: attack.connections,
    request: asked,
  }
  await new Promise((resolve) => {
    child.once('message', resolve)
    child.send(plan)
  })
  return () =>
    new Promise<FloodRead>((resolve, reject) => {
      child.once('message', (found) => resolve(found as FloodRead))
      child.once('exit', () => reject(new Error('the readers of the attack ended early')))
      child.send('stop')
    })
}

function forked(module: string): ChildProcess {
  return fork(fileURLToPath(new URL(module, import.meta.url)), { env: plainEnvironment(), execArgv: [] })
}
