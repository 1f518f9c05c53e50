import { lookup } from 'node:dns/promises'
import {
  LOOKUP_MS_MAX,
  LOOKUPS_MAX,
  LOOKUPS_WAITING_MAX,
  WORKSPACE_LOOKUPS_MAX,
  WORKSPACE_LOOKUPS_WAITING_MAX,
} from '../../schemas/egress/egress-limits.ts'

/** Resolves to every address of a name; rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/**
 * Resolves as the system does, with hosts files and search domains: the allow-list may admit names of the
 * operator's own network.
 */
export const resolveBySystem: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/** The gate is at its limit; the destination is not at fault. */
export class GateBusy extends Error {
  constructor() {
    super('the gate is at its limit')
  }
}

/** A name did not resolve, or not in time. */
export class NameUnresolved extends Error {}

interface Waiter {
  readonly workspaceId: string | undefined
  readonly go: () => void
}

/**
 * Lookups of names that callers chose. The system's resolver holds a thread of the pool while it waits, half
 * of all threads at most, and a caller can name DNS servers that never answer. So only a few lookups run at
 * once, fewer for one workspace, and no lookup waits for long.
 */
export class Lookups {
  readonly #resolve: Resolve
  readonly #inFlight = new Map<string, Promise<readonly string[]>>()
  readonly #waiting: Waiter[] = []
  /** Includes lookups whose callers have left: their threads are still in use. */
  #running = 0
  readonly #runningOf = new Map<string, number>()

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /**
   * Callers of the same workspace share the answer to a lookup in flight; answers are not cached. Rejects
   * with GateBusy or NameUnresolved.
   * @param workspaceId the workspace whose share the lookup uses, and for which it may have to wait;
   * undefined: no share
   */
  find(name: string, workspaceId?: string): Promise<readonly string[]> {
    const key = `${workspaceId ?? ''} ${name}`
    const inFlight =
      this.#inFlight.get(key) ?? this.#find(name, workspaceId).finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, inFlight)
    return inFlight
  }

  async #find(name: string, workspaceId: string | undefined): Promise<readonly string[]> {
    if (this.#mayRun(workspaceId)) this.#count(workspaceId, 1)
    else await this.#turn(workspaceId)
    const found = this.#resolve(name).finally(() => {
      this.#count(workspaceId, -1)
      this.#next()
    })
    return within(found)
  }

  #mayRun(workspaceId: string | undefined): boolean {
    return (
      this.#running < LOOKUPS_MAX &&
      (workspaceId === undefined || this.#of(workspaceId) < WORKSPACE_LOOKUPS_MAX)
    )
  }

  #of(workspaceId: string): number {
    return this.#runningOf.get(workspaceId) ?? 0
  }

  #count(workspaceId: string | undefined, by: 1 | -1): void {
    this.#running += by
    if (workspaceId === undefined) return
    const running = this.#of(workspaceId) + by
    if (running === 0) this.#runningOf.delete(workspaceId)
    else this.#runningOf.set(workspaceId, running)
  }

  /** The freed place goes to the first lookup that may run. */
  #next(): void {
    const at = this.#waiting.findIndex(({ workspaceId }) => this.#mayRun(workspaceId))
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1)
    if (next === undefined) return
    this.#count(next.workspaceId, 1)
    next.go()
  }

  #turn(workspaceId: string | undefined): Promise<void> {
    const own =
      workspaceId === undefined ? 0 : this.#waiting.filter((one) => one.workspaceId === workspaceId).length
    if (this.#waiting.length >= LOOKUPS_WAITING_MAX || own >= WORKSPACE_LOOKUPS_WAITING_MAX)
      return Promise.reject(new GateBusy())
    return new Promise((granted, refused) => {
      const go = (): void => {
        clearTimeout(timer)
        granted()
      }
      const waiter = { workspaceId, go }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        refused(new GateBusy())
      }, LOOKUP_MS_MAX)
      this.#waiting.push(waiter)
    })
  }
}

async function within(found: Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, refused) => {
    timer = setTimeout(() => refused(new NameUnresolved('no answer in time')), LOOKUP_MS_MAX)
  })
  try {
    const addresses = await Promise.race([found, late])
    if (addresses.length > 0) return addresses
  } catch (cause) {
    throw cause instanceof NameUnresolved ? cause : new NameUnresolved('it does not resolve', { cause })
  } finally {
    clearTimeout(timer)
  }
  throw new NameUnresolved('it has no address')
}
