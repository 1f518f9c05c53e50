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
  /** Milliseconds for which fronts keep working without Postgres. A view stays open for as long while its key cannot be checked. */
  readonly keyGraceMs: () => number
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

export interface LiveReader {
  /** Header with a key that was just confirmed as an operator's. */
  readonly authorization: string
  /** False once the session of the view has ended; checked for each view. */
  isOpen(): boolean
  /** Called when the key no longer belongs to an operator. */
  onRefused?(): void
}

const OK = 200
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const

/** Open live views. Each is a response that continues until its reader disconnects, its key or session ends, or the node drains. */
export class LiveStreams {
  readonly #options: LiveStreamsOptions
  #open = 0

  constructor(options: LiveStreamsOptions) {
    this.#options = options
  }

  open(response: ServerResponse, reader: LiveReader): void {
    if (!this.#admit(response)) return
    response.writeHead(OK, { ...EVERY_ANSWER, ...EVENT_STREAM })
    response.flushHeaders()
    new LiveStream(this.#options, response, reader).begin()
  }

  async once(response: ServerResponse): Promise<void> {
    if (!this.#admit(response)) return
    const view = await this.#options.feed.once()
    send(response, view === null ? failed({ name: 'draining' }) : jsonText(`${view}\n`))
  }

  #admit(response: ServerResponse): boolean {
    if (this.#open >= LIVE_STREAMS_MAX) {
      send(
        response,
        failed({
          name: 'busy',
          detail: `The maximum of ${LIVE_STREAMS_MAX} live views is open: close one of them.`,
        }),
      )
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
  readonly #reader: LiveReader
  readonly #now: () => number
  /** Milliseconds at which the key was last confirmed as an operator's. */
  #knownAt: number
  /** Milliseconds at which the key was last checked. */
  #checkedAt: number
  /** Milliseconds at which the reader stopped reading; null while it reads. */
  #stalledAt: number | null = null

  constructor(options: LiveStreamsOptions, response: ServerResponse, reader: LiveReader) {
    this.#options = options
    this.#response = response
    this.#reader = reader
    this.#now = options.now ?? (() => performance.now())
    this.#knownAt = this.#now()
    this.#checkedAt = this.#knownAt
  }

  begin(): void {
    const leave = this.#options.feed.subscribe((view) => this.#tell(view))
    this.#response.once('close', leave)
  }

  #tell(view: string | null): void {
    if (view === null || !this.#reader.isOpen()) return void this.#response.end()
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
    const { kind } = await this.#options.keys.check(this.#reader.authorization, LIVE_LOOK_MS)
    if (kind === 'operator') this.#knownAt = now
    if (kind === 'refused') this.#reader.onRefused?.()
    // The view stays open while no front can check the key: that is when an operator needs it most.
    const isOver =
      kind === 'refused' || (kind === 'undecided' && now - this.#knownAt > this.#options.keyGraceMs())
    if (isOver) this.#response.end()
  }
}
