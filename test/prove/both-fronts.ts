import { Agent, get, type AgentOptions } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { startLoad, type RunningLoad } from '../support/load/load.ts'
import type { LoadPace, LoadRequest, LoadResult, LoadRow } from '../support/load/load-plan.ts'
import { isLate } from '../support/wire/served.ts'
import { clientPortsOf } from '../support/wire/sockets.ts'
import type { Stand } from '../support/nodes/stand.ts'

/**
 * Milliseconds until the connections of a load have been accepted, at most and between two looks, and how
 * often it is begun to reach both fronts.
 */
const SETTLED_MS_MAX = 15_000
const SETTLING_MS = 100
const LOADS_MAX = 20
const CONNECTIONS_MAX = 200

export interface BothLoad {
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  /** Left out: each connection asks again when it has its answer. */
  readonly pace?: LoadPace
  readonly ratePerSMax?: number
}

/**
 * Runs a load until it is stopped, with a row for each request. The kernel spreads connections over the
 * fronts as it likes: begins again until both have some.
 * @returns how many fronts have connections of it: 2, unless the kernel never did
 */
export async function loadOnBoth(
  stand: Stand,
  input: BothLoad,
): Promise<{ readonly load: RunningLoad; readonly fronts: number }> {
  for (let attempt = 1; ; attempt++) {
    const load = await startLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: input.connections,
      durationMs: 600_000,
      pace: input.pace ?? { kind: 'closed' },
      requests: input.requests,
      keepRows: { except: [] },
      ...(input.ratePerSMax !== undefined && { ratePerSMax: input.ratePerSMax }),
    })
    const fronts = await accepting(stand, input.connections)
    if (fronts === 2 || attempt === LOADS_MAX)
      return {
        load: { ...load, stop: () => load.stop().then((result) => withoutLate(result, input)) },
        fronts,
      }
    await load.stop()
  }
}

/**
 * In a test, a load without what waited for a store in vain: a proof that is run by hand counts it, and so does
 * a test in which it is most of what was asked. A machine that stands still once holds up one call of each
 * connection.
 */
function withoutLate(result: LoadResult, { connections }: BothLoad): LoadResult {
  const isRowLate = (row: LoadRow): boolean => isLate(row.status, row.endedAt - row.startedAt)
  const late = result.rows.filter(isRowLate).length
  if (late === 0 || late > Math.max(connections, result.rows.length - late)) return result
  const { 503: unavailable = 0, ...statuses } = result.statuses
  const left = unavailable - late
  return {
    ...result,
    rows: result.rows.filter((row) => !isRowLate(row)),
    statuses: left === 0 ? statuses : { ...statuses, 503: left },
  }
}

/** @returns how many fronts have connections, once both have some or so many are accepted */
async function accepting(stand: Stand, connections: number): Promise<number> {
  for (const endsAt = performance.now() + SETTLED_MS_MAX; ;) {
    await after(SETTLING_MS)
    const held = stand.fronts().map((pid) => clientPortsOf(pid, stand.port).size)
    const fronts = held.filter((count) => count > 0).length
    const isSettled = fronts === 2 || held.reduce((sum, count) => sum + count, 0) >= connections
    if (isSettled || performance.now() > endsAt) return fronts
  }
}

/**
 * A kept-alive connection to each front. The kernel gives connections to fronts as it likes: opens more until
 * each has one.
 */
export async function connectToEach(stand: Stand, more: AgentOptions = {}): Promise<readonly Agent[]> {
  const found = new Map<number, Agent>()
  for (let tried = 0; tried < CONNECTIONS_MAX && found.size < stand.fronts().length; tried++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ...more })
    await once(stand, agent)
    const [socket] = Object.values(agent.freeSockets).flat() as readonly (Socket | undefined)[]
    const front = stand.fronts().find((pid) => clientPortsOf(pid, stand.port).has(socket?.localPort ?? 0))
    if (front === undefined || found.has(front)) agent.destroy()
    else found.set(front, agent)
  }
  return [...found.values()]
}

function once({ port, keys }: Stand, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${keys.inference_key}` }
    get({ host: '127.0.0.1', port, path: '/api/v1/models/count', headers, agent }, (answer) => {
      // The socket is free again a turn after the end.
      answer.resume().once('end', () => setImmediate(resolve))
    }).once('error', reject)
  })
}
