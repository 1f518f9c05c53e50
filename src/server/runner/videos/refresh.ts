import {
  VIDEO_VIEWS_AGAIN_MS_MAX,
  VIDEO_VIEWS_PAUSE_MS,
  VIDEO_VIEWS_PUT_AT_ONCE,
} from '../../../schemas/videos/video-limits.ts'
import { backoffMs, pause, type VideoEngineDeps } from './engine-deps.ts'

/** Puts all live views again: at the start, and when Redis is back and may have lost them. Design §7. */
export class Refresh {
  readonly #deps: VideoEngineDeps
  #isRequested = false
  #isRunning = false
  #isStopped = false

  constructor(deps: VideoEngineDeps) {
    this.#deps = deps
  }

  request(): void {
    this.#isRequested = true
    if (!this.#isRunning) void this.#run()
  }

  stop(): void {
    this.#isStopped = true
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let fails = 0; this.#isRequested && !this.#isStopped;) {
      this.#isRequested = false
      try {
        const count = await this.#putAll()
        fails = 0
        if (count > 0) this.#deps.log.info('video.views_put', { views: count })
      } catch (cause) {
        // The store is away. The callers of `request` wait for Redis themselves.
        this.#deps.log.debug('video.views_not_put', { cause })
        this.#isRequested = true
        await pause(this.#deps, backoffMs(this.#deps, fails++))
      }
    }
    this.#isRunning = false
  }

  /**
   * Puts the views at a pace that leaves both stores to callers. @returns number of views put; fewer when
   * Redis is away again
   */
  async #putAll(): Promise<number> {
    const { work, views } = this.#deps
    let count = 0
    for (let after: string | null = null; !this.#isStopped && !this.#isRequested;) {
      const page = await work.views(after, VIDEO_VIEWS_PUT_AT_ONCE)
      if (page.length === 0 || !(await views.putAll(page, VIDEO_VIEWS_AGAIN_MS_MAX))) break
      count += page.length
      after = page.at(-1)?.id ?? null
      if (page.length < VIDEO_VIEWS_PUT_AT_ONCE) break
      await pause(this.#deps, VIDEO_VIEWS_PAUSE_MS)
    }
    return count
  }
}
