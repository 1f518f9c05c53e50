import { lookup } from 'node:dns/promises'
import { LOOKUP_MS_MAX, LOOKUPS_MAX, LOOKUPS_WAITING_MAX } from '../../schemas/limits.ts'

/** Every address of a name; rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** As the system resolves, files and search domains included: names of the operator's own network may be admitted. */
export const resolveBySystem: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/** The gate is at its limit; nothing is wrong with the destination. */
export class GateBusy extends Error {
  constructor() {
    super('the gate is at its limit')
  }
}

/** A name did not resolve, or not in time. */
export class NameUnresolved extends Error {}

/**
 * Lookups of names that callers chose. The system's resolver holds a thread of the pool while it waits, at most half
 * of them in all, and a caller can name servers that never answer: so few at once, and no lookup of ours waits for long.
 */
export class Lookups {
  readonly #resolve: Resolve
  readonly #asked = new Map<string, Promise<readonly string[]>>()
  readonly #waiting: (() => void)[] = []
  /** Those included that nobody waits for any more: their threads are still taken. */
  #running = 0

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /** One answer for all who ask while it is on its way; none is kept. Rejects with GateBusy or NameUnresolved. */
  find(name: string): Promise<readonly string[]> {
    const asked = this.#asked.get(name) ?? this.#find(name).finally(() => this.#asked.delete(name))
    this.#asked.set(name, asked)
    return asked
  }

  async #find(name: string): Promise<readonly string[]> {
    if (this.#running < LOOKUPS_MAX) this.#running++
    else await this.#turn()
    const found = this.#resolve(name).finally(() => {
      // Its place goes to the next one, or is free.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    })
    return within(found)
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= LOOKUPS_WAITING_MAX) return Promise.reject(new GateBusy())
    return new Promise((granted, refused) => {
      const go = (): void => {
        clearTimeout(timer)
        granted()
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        refused(new GateBusy())
      }, LOOKUP_MS_MAX)
      this.#waiting.push(go)
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
