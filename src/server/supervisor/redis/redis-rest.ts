import { SILENCE_LOOK_MS } from '../fleet/silence.ts'
import type { NodeRedis } from '../node-setup.ts'

/** Times a second that a Redis wakes for its own work, as when it starts. */
export const REDIS_HZ = 10
/**
 * The same of a node at rest, where these wake-ups are most of what Redis does. Under load one wake-up a
 * second could remove keys whose time is over for a quarter of that second. Decision.
 */
export const RESTING_REDIS_HZ = 1
/** Milliseconds without calls after which Redis rests: its log is written to the disk with a wake-up. Decision. */
const REST_MS = 10_000
const REST_LOOKS = REST_MS / SILENCE_LOOK_MS

/** Lets the node's own Redis wake less while there are no calls. */
export class RedisRest {
  readonly #set: (hz: number) => Promise<boolean>
  #restLooks = 0
  /** The frequency of the running server; null: it is not known. */
  #hz: number | null = REDIS_HZ
  #isSetting = false

  /** @param set resolves whether the server took the frequency */
  constructor(set: (hz: number) => Promise<boolean>) {
    this.#set = set
  }

  /** Of the node's own Redis. */
  static of(redis: Pick<NodeRedis, 'setHz' | 'onChange'>): RedisRest {
    const rest = new RedisRest((hz) => redis.setHz(hz))
    redis.onChange(() => rest.changed())
    return rest
  }

  /** Reports whether fronts have had calls lately; to be called every SILENCE_LOOK_MS. */
  look(hasCalls: boolean): void {
    this.#restLooks = hasCalls ? 0 : this.#restLooks + 1
    const wanted = this.#restLooks < REST_LOOKS ? REDIS_HZ : RESTING_REDIS_HZ
    if (wanted === this.#hz || this.#isSetting) return
    this.#isSetting = true
    void this.#set(wanted).then((isSet) => {
      this.#isSetting = false
      // A server whose answer was late may have taken it.
      this.#hz = isSet ? wanted : null
    })
  }

  /** The server may be another one, or the same after a lost connection. */
  changed(): void {
    this.#hz = null
  }
}
