import { SILENCE_LOOK_MS } from '../fleet/silence.ts'
import type { NodeRedis } from '../node-setup.ts'

/** Wake-ups a second of a starting or busy Redis for its own work. */
export const REDIS_HZ = 10
/**
 * Wake-ups a second while the node is idle; at that time they are most of the work of Redis. Under load, one wake-up a
 * second could spend a quarter of that second removing expired keys. Decision.
 */
export const RESTING_REDIS_HZ = 1
/** Milliseconds without calls after which Redis wakes less often: it writes its log to the disk at a wake-up. Decision. */
const REST_MS = 10_000
const REST_LOOKS = REST_MS / SILENCE_LOOK_MS

/** Makes the node's own Redis wake less often while there are no calls. */
export class RedisRest {
  readonly #set: (hz: number) => Promise<boolean>
  #restLooks = 0
  /** The frequency of the running server; null: unknown. */
  #hz: number | null = REDIS_HZ
  #isSetting = false

  /** @param set resolves to whether the server accepted the frequency */
  constructor(set: (hz: number) => Promise<boolean>) {
    this.#set = set
  }

  /** Makes the `RedisRest` of the node's own Redis. */
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
      // When the answer is late, the server may still have accepted the frequency.
      this.#hz = isSet ? wanted : null
    })
  }

  /** The server may be a new one, or the same one after a lost connection. */
  changed(): void {
    this.#hz = null
  }
}
