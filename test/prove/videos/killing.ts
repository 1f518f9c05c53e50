/** Kills of parts of a node, at random and by the clock; reports those that really happened. */
import { tree } from '../../support/load/process-cpu.ts'
import { pause } from '../../support/nodes/spawned.ts'

export type Victim = 'front' | 'runner' | 'redis'

export interface Killing {
  /** Kills that really happened. */
  readonly kills: Readonly<Record<Victim, number>>
  readonly total: number
  /** The last one has been made, and what it hit is back or being brought back. */
  end(): Promise<void>
}

export interface KillInput {
  readonly pid: number
  readonly redis: { kill(): Promise<void>; start(): Promise<void> } | null
  readonly everyMs: number
  /** Kills after which it is left in peace; left out: none. */
  readonly most?: number
  readonly random: (below: number) => number
}

const REDIS_AWAY_MS = 300

/**
 * One of {front, runner, Redis} each `everyMs`; the three take turns in a random order, so that none is left
 * out.
 */
export function startKilling({ pid, redis, everyMs, most = Infinity, random }: KillInput): Killing {
  const kills: Record<Victim, number> = { front: 0, runner: 0, redis: 0 }
  let isOver = false
  let deck: Victim[] = []
  const next = (): Victim => {
    if (deck.length === 0)
      deck = shuffled(redis === null ? ['front', 'runner'] : ['front', 'runner', 'redis'], random)
    return deck.pop() ?? 'front'
  }
  const strike = async (victim: Victim): Promise<void> => {
    if (victim === 'redis') {
      await redis?.kill()
      kills.redis++
      await pause(REDIS_AWAY_MS)
      await redis?.start()
      return
    }
    const pids = pidsOf(pid, victim)
    const chosen = pids[random(Math.max(1, pids.length))]
    if (chosen === undefined) return
    try {
      process.kill(chosen, 'SIGKILL')
      kills[victim]++
    } catch {
      // It had ended by itself.
    }
  }
  const running = (async () => {
    for (
      let at = performance.now();
      !isOver && kills.front + kills.runner + kills.redis < most;
      at += everyMs
    ) {
      await strike(next())
      await pause(Math.max(0, at + everyMs - performance.now()))
    }
  })()
  return {
    kills,
    get total() {
      return kills.front + kills.runner + kills.redis
    },
    async end() {
      isOver = true
      await running
    },
  }
}

/** Pids of a role that serve now, without spares. */
export function pidsOf(pid: number, role: 'front' | 'runner'): readonly number[] {
  const isOfRole = new RegExp(`(^|[ /])sluice ${role}( |$)`)
  return tree(pid)
    .filter((row) => row.parent === pid && row.state !== 'Z' && isOfRole.test(row.arguments.join(' ').trim()))
    .map((row) => row.pid)
}

function shuffled<T>(all: readonly T[], random: (below: number) => number): T[] {
  const left = [...all]
  return all.flatMap(() => left.splice(random(left.length), 1))
}
