import { setTimeout as after } from 'node:timers/promises'
import { LIVE_FIRST_MS, LIVE_LOOK_MS } from '../../../schemas/operator/admin-port-limits.ts'
import type { ReadinessView } from '../../../schemas/operator/live-view.ts'
import { QuotaWatch } from '../../config/quota-watch.ts'
import { coresSince, cpuTimes, type Advice, type Cores } from '../../observe/load-advice.ts'
import type { Log } from '../../ports/observe.ts'
import type { ChildLook } from '../fleet/fleet.ts'
import { LiveSpans } from './live-spans.ts'
import { liveView } from './live-view.ts'
import { OwnUse } from './own-use.ts'

export interface LiveSource {
  readonly version: string
  readonly log: Pick<Log, 'error'>
  /** Null before the node is up, and again after the drain has begun. */
  readiness(): ReadinessView | null
  /** Advice of `doctor` about conditions without a counter; computed for each view. */
  advice(): readonly Advice[]
  /** The command by which the operator started the node. */
  readonly command: string
  /** Reads every serving process. Never rejects. */
  looks(): Promise<readonly ChildLook[]>
  /** Milliseconds between two looks; LIVE_LOOK_MS when absent. */
  readonly lookMs?: number
}

/** Receives the JSON of a live view; null: no further view follows. */
export type LiveListener = (json: string | null) => void

/**
 * The one collector of live views. The first listener starts it, the last one ends it, and it rests between.
 * For any number of listeners the collector reads the processes once a second and writes the view once; the
 * first two readings are closer, so that the first view comes soon.
 */
export class LiveFeed {
  readonly #source: LiveSource
  readonly #listeners = new Set<LiveListener>()
  /** The last view; null before the first one and while the feed rests. */
  #latest: string | null = null
  #isRunning = false
  #isClosed = false

  constructor(source: LiveSource) {
    this.#source = source
  }

  /** Tells the last view at once, where the feed runs. @returns a function that ends the subscription */
  subscribe(listener: LiveListener): () => void {
    if (this.#latest !== null) listener(this.#latest)
    return this.#add(listener)
  }

  /** The next view, within about two seconds; null when none follows. */
  once(): Promise<string | null> {
    return new Promise((resolve) => {
      const leave = this.#add((json) => {
        leave()
        resolve(json)
      })
    })
  }

  /** Ends all subscriptions, since the node is ending. */
  close(): void {
    this.#isClosed = true
    this.#tell(null)
  }

  #add(listener: LiveListener): () => void {
    this.#listeners.add(listener)
    if (!this.#isRunning) void this.#run()
    return () => void this.#listeners.delete(listener)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    const { lookMs = LIVE_LOOK_MS } = this.#source
    const spans = new LiveSpans()
    const own = new OwnUse()
    const quota = new QuotaWatch()
    try {
      spans.take(await this.#source.looks())
      let [times, waitMs] = [cpuTimes(), Math.min(lookMs, LIVE_FIRST_MS)]
      for (;;) {
        await after(waitMs, undefined, { ref: false })
        if (this.#listeners.size === 0) break
        const began = performance.now()
        const before = times
        times = cpuTimes()
        this.#tell(await this.#look(spans, own, coresSince(before, quota.look(), times)))
        waitMs = Math.max(0, lookMs - (performance.now() - began))
      }
    } catch (cause) {
      this.#source.log.error('live_view_failed', { cause })
      this.#tell(null)
    } finally {
      this.#isRunning = false
      this.#latest = null
    }
  }

  async #look(spans: LiveSpans, own: OwnUse, cores: Cores): Promise<string | null> {
    const looks = await this.#source.looks()
    const readiness = this.#source.readiness()
    if (readiness === null || this.#isClosed) return null
    const silent = looks.filter(({ reading }) => reading === null)
    const { version, command } = this.#source
    const advice = this.#source.advice()
    const view = liveView({
      version,
      command,
      readiness,
      processes: spans.take(looks),
      silent,
      own: own.read(),
      cores,
      advice,
      now: new Date(),
    })
    return JSON.stringify(view)
  }

  #tell(json: string | null): void {
    this.#latest = json
    for (const listener of [...this.#listeners]) listener(json)
    if (json === null) this.#listeners.clear()
  }
}
