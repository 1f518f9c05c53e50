import { setTimeout as after } from 'node:timers/promises'
import { startLoad, type RunningLoad } from '../support/load.ts'
import type { LoadPace, LoadRequest } from '../support/load-plan.ts'
import { clientPortsOf } from '../support/sockets.ts'
import type { Stand } from '../support/stand.ts'

/** Milliseconds until the connections of a load have been accepted, and how often it is begun to reach both fronts. */
const SETTLING_MS = 200
const LOADS_MAX = 20

export interface BothLoad {
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  /** Left out: each connection asks again when it has its answer. */
  readonly pace?: LoadPace
}

/**
 * Runs a load until it is stopped, with a row for each request. The kernel spreads connections over the fronts as it
 * likes: begins again until both have some.
 * @returns how many fronts have connections of it: 2, unless the kernel never did
 */
export async function loadOnBoth(stand: Stand, wish: BothLoad): Promise<{ readonly load: RunningLoad; readonly fronts: number }> {
  for (let attempt = 1; ; attempt++) {
    const load = await startLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: wish.connections,
      durationMs: 600_000,
      pace: wish.pace ?? { kind: 'closed' },
      requests: wish.requests,
      keepRows: { except: [] },
    })
    await after(SETTLING_MS)
    const fronts = stand.fronts().filter((pid) => clientPortsOf(pid, stand.port).size > 0).length
    if (fronts === 2 || attempt === LOADS_MAX) return { load, fronts }
    await load.stop()
  }
}
