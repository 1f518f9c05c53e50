import { lookup } from 'node:dns/promises'
import { FairSemaphore } from '../structures/fair-semaphore.ts'

/** Lookups of caller-chosen names that run at once in one front. Decision. */
export const LOOKUPS_MAX = 8
/** Lookups of caller-chosen names that wait in one front. Decision. */
export const LOOKUPS_WAITING_MAX = 256
/** Lookups of caller-chosen names that run at once for one workspace in one front. Decision. */
export const WORKSPACE_LOOKUPS_MAX = 2
/** Lookups of caller-chosen names that wait for one workspace in one front. Decision. */
export const WORKSPACE_LOOKUPS_WAITING_MAX = 64
/** Milliseconds that a lookup of a caller-chosen name waits, and then that it runs. Decision. */
export const LOOKUP_MS_MAX = 5_000

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
    super('the egress gate is busy: too many open connections or name lookups')
  }
}

/** A name did not resolve at all, or not in time. */
export class NameUnresolved extends Error {}

/**
 * Lookups of names that callers chose. The system's resolver holds a thread of the pool while it waits, half
 * of all threads at most, and a caller can name DNS servers that never answer. So only a few lookups run at
 * once, fewer for one workspace, and no lookup waits for long.
 */
export class Lookups {
  readonly #resolve: Resolve
  readonly #inFlight = new Map<string, Promise<readonly string[]>>()
  /** A place is kept until the lookup ends, even if its callers have left: its thread is still in use. */
  readonly #places = new FairSemaphore({
    places: LOOKUPS_MAX,
    placesOfOne: WORKSPACE_LOOKUPS_MAX,
    waitingMax: LOOKUPS_WAITING_MAX,
    waitingOfOneMax: WORKSPACE_LOOKUPS_WAITING_MAX,
    waitMs: LOOKUP_MS_MAX,
  })
  /** Lookups that count for no workspace. */
  #alone = 0

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
    const tenant = workspaceId ?? `alone ${++this.#alone}`
    const entered = this.#places.enter({ tenant })
    // A lookup that gets a place at once begins at once.
    const leave = entered instanceof Promise ? await entered : entered
    if (leave === null) throw new GateBusy()
    return within(this.#resolve(name).finally(leave))
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
    throw cause instanceof NameUnresolved
      ? cause
      : new NameUnresolved('the host name does not resolve', { cause })
  } finally {
    clearTimeout(timer)
  }
  throw new NameUnresolved('the host name has no address')
}
