/** The calls of the other organization beside an attack, each kind at a fixed rate. */
import { FORM } from '../../test/prove/keys/isolation/owners.ts'
import { startLoad, type RunningLoad } from '../../test/support/load/load.ts'
import type { LoadRequest, LoadResult } from '../../test/support/load/load-plan.ts'
import type { NeighboursStand } from './stand.ts'

/** Calls a second of one kind: enough for a 99th percentile, and only a small load. */
export const VICTIM_PER_S = 40
/** Connections of one kind. */
export const VICTIM_CONNECTIONS = 4

/** Victims whose p99 is judged. */
export const PACED_NAMES = ['key read', 'embeddings', 'release', 'upload', 'list', 'chat'] as const
/**
 * All victims, with the one whose answers need much memory: its calls are too few for a p99, but none may
 * fail.
 */
export const VICTIM_NAMES = [...PACED_NAMES, 'large embeddings'] as const
/** Calls a second of the victim with large answers. */
const LARGE_PER_S = 2
export type VictimName = (typeof VICTIM_NAMES)[number]

export type VictimResults = Readonly<Record<VictimName, LoadResult>>

/** A body whose answer has 1.3 MB: more than a small answer's reserved room. */
const LARGE_BODY = JSON.stringify({
  model: 'sluice/lexical-1',
  input: Array.from({ length: 160 }, () => 'a text'),
  encoding_format: 'base64',
})

const CHAT_BODY = JSON.stringify({
  model: 'sluice/echo-1',
  stream: true,
  messages: [{ role: 'user', content: 'a few words' }],
})

/**
 * Requests of the victims. A release is a call of the egress route: Sluice opens the secret and calls the
 * provider with it.
 */
export function victimRequests({
  victim,
  mock,
  embeddings,
}: NeighboursStand): Readonly<Record<VictimName, LoadRequest>> {
  const headers = { authorization: `Bearer ${victim.inference}` }
  return {
    'key read': { method: 'GET', path: '/api/v1/key', headers, body: '' },
    embeddings: embeddings(victim.inference),
    'large embeddings': {
      method: 'POST',
      path: '/api/v1/embeddings',
      headers: { ...headers, 'content-type': 'application/json' },
      body: LARGE_BODY,
    },
    release: {
      method: 'POST',
      path: `/egress/localhost:${mock.port}/v1/embeddings`,
      headers: {
        'x-sluice-key': victim.inference,
        authorization: `Bearer {{secret:${victim.secret}}}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'bench-embed', input: 'x' }),
    },
    upload: {
      method: 'POST',
      path: '/api/v1/files',
      headers: { ...headers, ...FORM.headers },
      body: FORM.body,
    },
    list: { method: 'GET', path: '/api/v1/files?limit=10', headers, body: '' },
    chat: {
      method: 'POST',
      path: '/api/v1/chat/completions',
      headers: { ...headers, 'content-type': 'application/json' },
      body: CHAT_BODY,
    },
  }
}

/** Runs all kinds concurrently, each from a process of its own. */
export async function victimsFor(stand: NeighboursStand, durationMs: number): Promise<VictimResults> {
  const requests = victimRequests(stand)
  const loads = new Map<VictimName, RunningLoad>()
  for (const name of VICTIM_NAMES) {
    loads.set(
      name,
      await startLoad({
        host: '127.0.0.1',
        port: stand.port,
        connections: VICTIM_CONNECTIONS,
        durationMs,
        pace: { kind: 'open', ratePerS: perS(name) },
        requests: [requests[name]],
      }),
    )
  }
  const results = await Promise.all(
    [...loads].map(async ([name, { result }]) => [name, await result] as const),
  )
  return Object.fromEntries(results) as VictimResults
}

export function perS(name: VictimName): number {
  return name === 'large embeddings' ? LARGE_PER_S : VICTIM_PER_S
}

/**
 * Removes the victim's uploaded files between two measurements: they count against its quota and lengthen its
 * list.
 */
export async function clearUploads({ victim }: NeighboursStand): Promise<void> {
  for (;;) {
    const { data } = await victim.made(victim.inference, { method: 'GET', path: '/api/v1/files?limit=100' })
    const ids = (data as readonly { readonly id: string }[])
      .map(({ id }) => id)
      .filter((id) => id !== victim.fileId)
    if (ids.length === 0) return
    for (const id of ids)
      await victim.made(victim.inference, { method: 'DELETE', path: `/api/v1/files/${id}` })
  }
}
