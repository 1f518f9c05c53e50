import { setImmediate } from 'node:timers/promises'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { VETTED_WORKSPACE_CALLS_MAX } from '../../schemas/egress/egress-limits.ts'
import type { Destination, VettedOrigin } from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'
import { vettedConnector, type trustOf } from './connect.ts'
import { GateBusy } from './lookups.ts'
import { PooledOrigin, plainly, sendable } from './origin.ts'
import { failureOf } from './connection-failure.ts'
import { portOf, vet, type VettingDeps } from './vetting.ts'

/** Connections of a front, for one workspace, to one host and port that a caller chose. Decision. */
export const VETTED_CONNECTIONS_MAX = 64
/**
 * Calls of a front, for one workspace, that wait for a connection to a host and port that a caller chose;
 * `busy` beyond. Decision.
 */
export const VETTED_WAITING_MAX = 64
/**
 * Calls and exchanges of all workspaces, in one front, with destinations that callers chose; `busy` beyond.
 * Decision.
 */
export const VETTED_CALLS_MAX = 1_024
/** Sockets of one front to destinations that callers chose, idle sockets included. Decision. */
export const VETTED_SOCKETS_MAX = 1_536
/**
 * Connection pools of one front to destinations that callers chose; as many as VETTED_CALLS_MAX. The least
 * recently used idle pool is closed first. Decision.
 */
export const VETTED_POOLS_MAX = 1_024
/**
 * Milliseconds that an idle connection to a destination that a caller chose is kept, whatever the destination
 * offers: many servers close theirs after 5 s. Decision.
 */
export const VETTED_KEEP_ALIVE_MS = 4_000
/** Milliseconds that an idle pool to a destination that a caller chose is kept. Decision. */
export const VETTED_IDLE_MS = 60_000

export interface VettedDeps {
  readonly budget: AnswerBudget
  readonly trust: ReturnType<typeof trustOf>
  readonly vetting: VettingDeps
}

interface KeptPool {
  readonly pool: PooledOrigin
  readonly workspaceId: string | undefined
  usedAtMs: number
}

const LIMITS = {
  connections: VETTED_CONNECTIONS_MAX,
  waiting: VETTED_WAITING_MAX,
  keepAliveTimeout: VETTED_KEEP_ALIVE_MS,
  keepAliveMaxTimeout: VETTED_KEEP_ALIVE_MS,
}
/** Share of the places for sockets above which idle pools are closed, so that a new connection finds a place. */
const CROWDED_SHARE = 3 / 4

/** The pools to destinations that callers chose: callers can name any number of destinations, so that all numbers here are limited. */
export class VettedOrigins {
  readonly #deps: VettedDeps
  /** Pools in the order of their last use, the latest last. */
  readonly #pools = new Map<string, KeptPool>()
  readonly #places = {
    take: async (): Promise<void> => {
      if (this.#sockets >= VETTED_SOCKETS_MAX * CROWDED_SHARE) this.#dropIdle()
      // A destroyed socket closes at the end of the loop's turn, and is counted until then.
      for (let turn = 0; turn < 2 && this.#sockets >= VETTED_SOCKETS_MAX; turn++) await setImmediate()
      if (this.#sockets >= VETTED_SOCKETS_MAX) throw new GateBusy()
      this.#sockets++
    },
    giveBack: (): void => void this.#sockets--,
  }
  readonly #clock: NodeJS.Timeout
  #sockets = 0

  constructor(deps: VettedDeps) {
    this.#deps = deps
    this.#clock = setInterval(
      () => this.#dropIdle(performance.now() - VETTED_IDLE_MS),
      VETTED_IDLE_MS,
    ).unref()
  }

  origin(destination: Destination): Outcome<VettedOrigin> {
    const port = portOf(destination)
    if (!port.ok) return port
    const to: Target = { ...destination, port: port.value }
    return ok({
      call: async (request) => {
        const pool = this.#poolTo(to, request.isLong === true)
        return pool === null ? fail('busy') : pool.call({ ...request, headers: plainly(request.headers) })
      },
      exchange: async (request) => {
        // A path that does not begin with a slash could name another authority.
        if (!request.path.startsWith('/')) return fail('header_invalid')
        const pool = this.#poolTo(to, true)
        return pool === null
          ? fail('busy')
          : pool.exchange({ ...request, headers: sendable(request.headers) })
      },
      check: async () => {
        try {
          await vet(to, to.port, this.#deps.vetting)
          return ok(null)
        } catch (cause) {
          return { ok: false, failure: failureOf(cause, false) }
        }
      },
    })
  }

  get calls(): number {
    let calls = 0
    for (const { pool } of this.#pools.values()) calls += pool.calls
    return calls
  }

  async close(): Promise<void> {
    clearInterval(this.#clock)
    await Promise.all([...this.#pools.values()].map(({ pool }) => pool.destroy()))
  }

  /**
   * Null when the gate has no room for a call. Workspaces share no connection: bytes that one workspace wrote
   * on it, or made the other side send ahead, would be read as those of the next workspace.
   * @param isLong the call may take minutes: it uses separate connections, so that it does not occupy those of
   * short calls
   */
  #poolTo(to: Target, isLong: boolean): PooledOrigin | null {
    const { workspaceId } = to
    if (!this.#hasRoom(workspaceId)) return null
    const key = `${workspaceId ?? ''} ${to.purpose} ${to.host}:${to.port}${isLong ? ' long' : ''}`
    const known = this.#pools.get(key)
    this.#pools.delete(key)
    if (known === undefined && this.#pools.size >= VETTED_POOLS_MAX && !this.#dropOldest()) return null
    const kept = { pool: known?.pool ?? this.#poolFor(to), workspaceId, usedAtMs: performance.now() }
    this.#pools.set(key, kept)
    return kept.pool
  }

  /**
   * True if the workspace may make another call. No workspace can use the whole gate: its slow destinations
   * would otherwise block the calls of all others.
   */
  #hasRoom(workspaceId: string | undefined): boolean {
    let all = 0
    let own = 0
    for (const kept of this.#pools.values()) {
      all += kept.pool.calls
      if (kept.workspaceId === workspaceId) own += kept.pool.calls
    }
    return all < VETTED_CALLS_MAX && (workspaceId === undefined || own < VETTED_WORKSPACE_CALLS_MAX)
  }

  #poolFor(to: Target): PooledOrigin {
    const { budget, trust, vetting } = this.#deps
    const connect = vettedConnector(trust, () => vet(to, to.port, vetting), this.#places)
    return new PooledOrigin(`https://${to.host}:${to.port}`, { budget, connect, limits: LIMITS })
  }

  #dropOldest(): boolean {
    for (const [key, { pool }] of this.#pools) if (pool.calls === 0) return this.#drop(key, pool)
    return false
  }

  /** @param untilMs only pools that were last used before this instant */
  #dropIdle(untilMs = Infinity): void {
    for (const [key, { pool, usedAtMs }] of this.#pools)
      if (pool.calls === 0 && usedAtMs < untilMs) this.#drop(key, pool)
  }

  #drop(key: string, pool: PooledOrigin): true {
    this.#pools.delete(key)
    void pool.destroy()
    return true
  }
}

interface Target extends Destination {
  readonly port: number
}
