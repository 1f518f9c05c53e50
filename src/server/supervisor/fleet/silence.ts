import { FRONT_HUNG_MS, FRONT_SILENT_MS } from '../../../schemas/limits/limits.ts'
import type { Log } from '../../ports/observe.ts'
import type { Child } from './child.ts'

/** Milliseconds between two looks at the heartbeats of fronts. */
export const SILENCE_LOOK_MS = 500

type Watched = Pick<Child, 'role' | 'pid' | 'pulses' | 'isDebugged' | 'kill'>

interface LastPulse {
  readonly pulses: number
  readonly silentMs: number
}

/**
 * Finds fronts without heartbeats: a stopped process, a blocked loop. The kernel still gives such a front its share of
 * new connections, so it is killed in the end. Silence is counted in looks, without a clock: a supervisor or a machine
 * that was suspended did not look meanwhile.
 */
export class SilenceWatch {
  readonly #log: Log
  readonly #lastPulses = new WeakMap<Watched, LastPulse>()
  readonly #silent = new WeakSet<Watched>()
  #hangs = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Number of fronts that were killed because they hung. */
  get hangs(): number {
    return this.#hangs
  }

  isSilent(child: Watched): boolean {
    return this.#silent.has(child)
  }

  /** Checks each front; to be called every SILENCE_LOOK_MS. */
  look(fronts: readonly Watched[]): void {
    for (const front of fronts) {
      const before = this.#lastPulses.get(front)
      const hasPulse = before === undefined || before.pulses !== front.pulses
      const silentMs = hasPulse ? 0 : before.silentMs + SILENCE_LOOK_MS
      this.#lastPulses.set(front, { pulses: front.pulses, silentMs })
      this.#judge(front, silentMs)
    }
  }

  #judge(front: Watched, silentMs: number): void {
    const wasSilent = this.#silent.has(front)
    if (silentMs < FRONT_SILENT_MS) {
      if (wasSilent) this.#log.info('front_answers', { pid: front.pid })
      this.#silent.delete(front)
      return
    }
    if (!wasSilent)
      this.#log.warn('front_silent', { pid: front.pid, silentMs, effect: 'the front counts as not ready' })
    this.#silent.add(front)
    if (silentMs === 0 || silentMs % FRONT_HUNG_MS !== 0) return
    // A person is debugging the front: killing it would lose the state.
    if (front.isDebugged)
      return this.#log.warn('front_debugged', {
        pid: front.pid,
        silentMs,
        effect: 'the front is not replaced',
      })
    this.#hangs++
    this.#log.error('front_hung', { pid: front.pid, silentMs, effect: 'the front is killed and replaced' })
    front.kill()
  }
}
