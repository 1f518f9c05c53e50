import { fail, type Outcome } from '../../schemas/failures.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'

export interface FairSemaphoreOptions {
  /** Sum of the weights of all work that may run at once. */
  readonly places: number
  /** Sum of the weights of a tenant's work that may run at once; all places when left out. */
  readonly placesOfOne?: number
  /** Pieces of work that may wait, of all tenants together; any number when left out. */
  readonly waitingMax?: number
  /** Pieces of work of a tenant that may wait; any number when left out. */
  readonly waitingOfOneMax?: number
  /** Milliseconds that work waits at most; no limit when left out. */
  readonly waitMs?: number
}

export interface PlaceInput {
  /** The workspace or the organization that takes turns with others. */
  readonly tenant: string
  /** At most `placesOfOne`; 1 when left out. */
  readonly weight?: number
  /** Ends the wait, not the work. */
  readonly signal?: AbortSignal
}

/** Gives a place back; a second call does nothing. */
export type Leave = () => void

interface Waiting {
  readonly weight: number
  readonly settle: (hasPlace: boolean) => void
}

interface Tenant {
  readonly waiting: Set<Waiting>
  /** Sum of the weights of its work under way. */
  running: number
}

/**
 * Runs work while the sum of its weights fits. Tenants with waiting work take turns, each with its oldest: a tenant
 * that floods the semaphore waits only for itself.
 */
export class FairSemaphore {
  readonly #placesOfOne: number
  readonly #waitingMax: number
  readonly #waitingOfOneMax: number
  readonly #waitMs: number | null
  readonly #tenants = new Map<string, Tenant>()
  /** Tenants with work that waits, in the order of their turns. */
  readonly #turns = new Map<string, Tenant>()
  #waitingCount = 0
  #left: number

  constructor(options: FairSemaphoreOptions) {
    this.#placesOfOne = Math.min(options.placesOfOne ?? options.places, options.places)
    this.#waitingMax = options.waitingMax ?? Infinity
    this.#waitingOfOneMax = options.waitingOfOneMax ?? Infinity
    this.#waitMs = options.waitMs ?? null
    this.#left = options.places
  }

  /** Failures: busy, when too many pieces of work wait or the wait takes too long; that of the signal. */
  async within<T>(input: PlaceInput, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const leave = await this.enter(input)
    if (input.signal?.aborted === true) {
      leave?.()
      return { ok: false, failure: endedBy(input.signal) }
    }
    if (leave === null) return fail('busy', { retryAfterS: 1 })
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /**
   * Returns at once when no wait is needed.
   * @returns a function that gives the place back; null when too many wait already, the wait takes too long, or the
   * signal ended it
   */
  enter(input: PlaceInput): Leave | null | Promise<Leave | null> {
    const { tenant: name, weight = 1 } = input
    // Work that never fits would block all other work.
    if (weight > this.#placesOfOne) throw new Error('a task needs more slots than the semaphore has')
    const tenant = this.#tenants.get(name) ?? { waiting: new Set(), running: 0 }
    const entered = this.#wait(tenant, input)
    const leaveOf = (hasPlace: boolean): Leave | null =>
      hasPlace ? this.#leaveOnce(name, tenant, weight) : null
    return typeof entered === 'boolean' ? leaveOf(entered) : entered.then(leaveOf)
  }

  #leaveOnce(name: string, tenant: Tenant, weight: number): Leave {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.#left += weight
      tenant.running -= weight
      this.#forgetIdle(name, tenant)
      this.#letIn()
    }
  }

  #wait(tenant: Tenant, { tenant: name, weight = 1, signal }: PlaceInput): boolean | Promise<boolean> {
    // Waiting work goes first, unless its tenant already uses all its places.
    if (tenant.waiting.size === 0 && this.#fits(tenant, weight) && !this.#isAnyNext()) {
      this.#tenants.set(name, tenant)
      this.#take(tenant, weight)
      return true
    }
    if (signal?.aborted === true) return false
    if (this.#waitingCount >= this.#waitingMax || tenant.waiting.size >= this.#waitingOfOneMax) return false
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const giveUp = (): void => {
        waiting.settle(false)
        this.#forgetIdle(name, tenant)
        this.#letIn()
      }
      const waiting: Waiting = {
        weight,
        settle: (hasPlace) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', giveUp)
          this.#waitingCount--
          tenant.waiting.delete(waiting)
          if (tenant.waiting.size === 0) this.#turns.delete(name)
          resolve(hasPlace)
        },
      }
      this.#tenants.set(name, tenant)
      this.#turns.set(name, tenant)
      tenant.waiting.add(waiting)
      this.#waitingCount++
      signal?.addEventListener('abort', giveUp)
      if (this.#waitMs !== null) timer = setTimeout(giveUp, this.#waitMs)
    })
  }

  /** Stops at work that does not fit yet: otherwise lighter work could overtake it forever. */
  #letIn(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { name, tenant, first } = next
      if (first.weight > this.#left) return
      this.#take(tenant, first.weight)
      first.settle(true)
      if (this.#turns.delete(name)) this.#turns.set(name, tenant)
    }
  }

  /** The oldest work of the first tenant that may have more places. */
  #next(): { readonly name: string; readonly tenant: Tenant; readonly first: Waiting } | null {
    for (const [name, tenant] of this.#turns) {
      const [first] = tenant.waiting
      if (first !== undefined && tenant.running + first.weight <= this.#placesOfOne)
        return { name, tenant, first }
    }
    return null
  }

  #isAnyNext(): boolean {
    return this.#waitingCount > 0 && this.#next() !== null
  }

  #fits(tenant: Tenant, weight: number): boolean {
    return weight <= this.#left && tenant.running + weight <= this.#placesOfOne
  }

  #take(tenant: Tenant, weight: number): void {
    tenant.running += weight
    this.#left -= weight
  }

  #forgetIdle(name: string, tenant: Tenant): void {
    if (tenant.running === 0 && tenant.waiting.size === 0) this.#tenants.delete(name)
  }
}
