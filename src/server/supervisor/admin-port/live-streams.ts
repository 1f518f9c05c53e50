import type { ServerResponse } from 'node:http'
import {
  ADMIN_KEY_MS_MAX,
  LIVE_LOOK_MS,
  LIVE_STALL_MS,
  LIVE_STREAMS_MAX,
} from '../../../schemas/operator/admin-port-limits.ts'
import { EVERY_ANSWER, failed, jsonText, send } from './answers.ts'
import type { LiveFeed } from './live-feed.ts'
import type { OperatorKeys } from './operator-keys.ts'

export interface LiveStreamsOptions {
  readonly feed: Pick<LiveFeed, 'subscribe' | 'once'>
  readonly keys: Pick<OperatorKeys, 'check'>
  /**
   * Milliseconds for which fronts go on without Postgres: a view stays open as long while its key cannot be
   * checked.
   */
  readonly keyGraceMs: () => number
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

const OK = 200
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const

/**
 * Open live views. Each is a response that goes on until its reader leaves, its key is gone, or the node
 * drains.
 */
export class LiveStreams {
  readonly #options: LiveStreamsOptions
  #open = 0

  constructor(options: LiveStreamsOptions) {
    this.#options = options
  }

  /** @param authorization header with a key that was just confirmed as an operator's */
  open(response: ServerResponse, authorization: string): void {
    if (!this.#admit(response)) return
    response.writeHead(OK, { ...EVERY_ANSWER, ...EVENT_STREAM })
    response.flushHeaders()
    new LiveStream(this.#options, response, authorization).begin()
  }

  /** Sends one view as JSON. */
  async once(response: ServerResponse): Promise<void> {
    if (!this.#admit(response)) return
    const view = await this.#options.feed.once()
    send(response, view === null ? failed({ name: 'draining' }) : jsonText(`${view}\n`))
  }

  #admit(response: ServerResponse): boolean {
    if (this.#open >= LIVE_STREAMS_MAX) {
      send(response, failed({ name: 'busy', detail: `There are ${LIVE_STREAMS_MAX} open live views.` }))
      return false
    }
    this.#open++
    response.once('close', () => this.#open--)
    return true
  }
}

class LiveStream {
  readonly #options: LiveStreamsOptions
  readonly #response: ServerResponse
  readonly #authorization: string
  readonly #now: () => number
  /** Milliseconds at which the key was last confirmed as an operator's. */
  #knownAt: number
  /** Milliseconds at which the key was last checked. */
  #checkedAt: number
  /** Milliseconds since which the reader takes nothing; null while the reader takes data. */
  #stalledAt: number | null = null

  constructor(options: LiveStreamsOptions, response: ServerResponse, authorization: string) {
    this.#options = options
    this.#response = response
    this.#authorization = authorization
    this.#now = options.now ?? (() => performance.now())
    this.#knownAt = this.#now()
    this.#checkedAt = this.#knownAt
  }

  begin(): void {
    const leave = this.#options.feed.subscribe((view) => this.#tell(view))
    this.#response.once('close', leave)
  }

  #tell(view: string | null): void {
    if (view === null) return void this.#response.end()
    const now = this.#now()
    if (now - this.#checkedAt >= ADMIN_KEY_MS_MAX - LIVE_LOOK_MS) void this.#askAgain(now)
    // A slow reader misses views and gets the newest one when it can: views are not queued.
    if (this.#response.writableLength === 0) {
      this.#stalledAt = null
      this.#response.write(`data: ${view}\n\n`)
      return
    }
    this.#stalledAt ??= now
    if (now - this.#stalledAt > LIVE_STALL_MS) this.#response.destroy()
  }

  async #askAgain(now: number): Promise<void> {
    this.#checkedAt = now
    const { kind } = await this.#options.keys.check(this.#authorization, LIVE_LOOK_MS)
    if (kind === 'operator') this.#knownAt = now
    // The view stays open while no front can check the key: an operator needs it most then.
    const isOver =
      kind === 'refused' || (kind === 'undecided' && now - this.#knownAt > this.#options.keyGraceMs())
    if (isOver) this.#response.end()
  }
}
