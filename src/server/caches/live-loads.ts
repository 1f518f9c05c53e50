import { fail, type Outcome } from '../../schemas/failures.ts'
import { BLIND_LOADS_MAX, RELOADS_MS_MAX } from '../../schemas/keys/key-limits.ts'
import type { Change, EpochFeed } from '../ports/keys/keys.ts'
import { HeardChanges } from './heard-changes.ts'

export interface LiveLoadsDeps {
  readonly feed: Pick<EpochFeed, 'epoch' | 'subscribe'>
  /** The name of what a change touches, EVERYTHING, or null where it touches nothing that is loaded here. */
  readonly nameOf: (change: Change) => string | null
  /** Drops what is known of the name, at once. */
  readonly forget: (name: string) => void
  /** Milliseconds of any clock. */
  readonly now: () => number
}

export interface LiveRead<T> {
  /**
   * @param sending is called right before the store is asked: changes that are told from then on may be
   * missing
   */
  readonly read: (sending: () => void) => Promise<Outcome<T>>
  /** The names of what the value depends on. */
  readonly namesOf: (value: T) => readonly string[]
  /** @param isCurrent false: it serves those who wait for it, and nobody else */
  readonly take: (value: T, isCurrent: boolean) => void
}

interface Load<T> {
  readonly done: Promise<Outcome<T>>
  /** When the last who joined it has waited long enough. */
  endsAt: number
}

/**
 * The rule of every cache of a front, written once: what is known is dropped at a change that touches it, and
 * what is being loaded is loaded again only if such a change came meanwhile. Changes of other things cost a
 * load nothing, so that a workspace that is written in a loop keeps nobody else waiting. One load at a time
 * for each id.
 *
 * A load that a change of its own value overtakes is made again until it is not, or its time is over. A feed
 * that lost track (`everything`) knows nothing of this value: after BLIND_LOADS_MAX such loads the next one
 * serves those who waited when it began, to whom it is not old, and is not kept.
 */
export class LiveLoads<T> {
  readonly #deps: LiveLoadsDeps
  readonly #heard: HeardChanges
  /** Those that whoever comes now may wait for. */
  readonly #joinable = new Map<string, Load<T>>()
  readonly #leave: () => void
  #size = 0

  constructor(deps: LiveLoadsDeps) {
    this.#deps = deps
    this.#heard = new HeardChanges(deps.feed)
    this.#leave = deps.feed.subscribe((change) => this.#hear(change))
  }

  /** Loads under way. */
  get size(): number {
    return this.#size
  }

  /**
   * The load of this id that is under way; undefined where there is none that whoever comes now may wait for.
   */
  join(id: string): Promise<Outcome<T>> | undefined {
    const load = this.#joinable.get(id)
    if (load !== undefined) load.endsAt = this.#deps.now() + RELOADS_MS_MAX
    return load?.done
  }

  /**
   * Joins the load of this id that is under way, or begins one. Failures: those of the read; busy (changes
   * without a pause).
   */
  load(id: string, input: LiveRead<T>): Promise<Outcome<T>> {
    const joined = this.join(id)
    if (joined !== undefined) return joined
    this.#size++
    this.#heard.begun()
    const time = { endsAt: this.#deps.now() + RELOADS_MS_MAX }
    const leave = (): void => {
      if (this.#joinable.get(id) === load) this.#joinable.delete(id)
    }
    const done = this.#repeat(input, time, leave).finally(() => {
      leave()
      this.#size--
      this.#heard.ended()
    })
    const load: Load<T> = Object.assign(time, { done })
    this.#joinable.set(id, load)
    return done
  }

  close(): void {
    this.#leave()
  }

  #hear(change: Change): void {
    const name = this.#deps.nameOf(change)
    if (name === null) return
    this.#heard.hear(name, change.kind === 'everything' ? Infinity : change.n)
    this.#deps.forget(name)
  }

  /** @param leave lets nobody join any more */
  async #repeat(
    { read, namesOf, take }: LiveRead<T>,
    time: { readonly endsAt: number },
    leave: () => void,
  ): Promise<Outcome<T>> {
    for (let blind = 0; ;) {
      const isLast = blind === BLIND_LOADS_MAX
      if (isLast) leave()
      let start = this.#heard.start()
      const loaded = await read(() => {
        start = this.#heard.start()
      })
      if (!loaded.ok) return loaded
      const overtaken = this.#heard.since(start, namesOf(loaded.value))
      if (overtaken === null || (overtaken === 'everything' && isLast)) {
        take(loaded.value, overtaken === null)
        return loaded
      }
      if (overtaken === 'everything') blind++
      if (this.#deps.now() >= time.endsAt)
        return fail('busy', {
          retryAfterS: 1,
          detail: 'What is asked for changes faster than it can be read.',
        })
    }
  }
}
