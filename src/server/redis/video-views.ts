import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { VIDEO_STATUSES, VIDEO_RANKS, videoRankOf } from '../../schemas/videos/video-jobs.ts'
import {
  VIDEO_VIEW_MS_MAX,
  VIDEO_VIEWS_AGAIN_MS_MAX,
  VIDEO_VIEWS_PUT_AT_ONCE,
} from '../../schemas/videos/video-limits.ts'
import type { VideoView, VideoViews, VideoWake } from '../ports/videos/videos.ts'
import type { State } from './open.ts'
import { openChannel, publishTo, type Channel } from './channel.ts'

/** Milliseconds that the live view of an open job is kept: a stale view may be shown for this long. Decision. */
export const VIDEO_VIEW_OPEN_MS = 600_000
/** Milliseconds that the live view of an ended job is kept; after that the job's row is read. Decision. */
export const VIDEO_VIEW_ENDED_MS = 3_600_000
/** Views that wait in a process until Redis is back. Decision. */
export const VIDEO_VIEWS_LATE_MAX = 20_000
/** Milliseconds after a loss of Redis in which only the views of ended jobs are trusted. Decision. */
export const VIDEO_VIEW_DOUBT_MS = 3_000

export interface RunningVideoViews extends VideoViews {
  close(): Promise<void>
}

/**
 * Stores a view unless the stored one has a later state. The first character of a view is its rank. KEYS: the
 * view's; ARGV: the view, milliseconds that it is kept. A late write of an earlier view changes nothing.
 */
const PUT = `
local before = redis.call('GET', KEYS[1])
if before and string.byte(before) > string.byte(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`
const PUT_SHA = createHash('sha1').update(PUT).digest('hex')

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
/** Every client of Redis may write there: a value with another shape is ignored. */
const View = Compile(
  Type.Object({
    id: Type.String(),
    workspaceId: Type.String(),
    status: Type.Enum([...VIDEO_STATUSES]),
    generationId: nullable(Type.String()),
    error: nullable(Type.String()),
    outputs: Type.Integer({ minimum: 0 }),
    usage: nullable(
      Type.Object({ costNano: nullable(Type.Integer({ minimum: 0 })), isByok: Type.Boolean() }),
    ),
  }),
)

/** Live views of jobs, so that polling callers do not load Postgres. Design §3, §7. */
export function openVideoViews(state: State, now: () => number = () => performance.now()): RunningVideoViews {
  const wakes = openVideoWakes(state)
  const late = new LateViews(state)
  let doubtedUntil = -Infinity
  const stop = state.onChange((isReachable) => {
    if (isReachable) doubtedUntil = now() + VIDEO_VIEW_DOUBT_MS
  })
  return {
    wake: wakes.wake,
    onWake: wakes.onWake,
    put: (view) => late.put([view]),
    putAll: (views, msMax) => late.put(views, msMax),
    async get(id) {
      const view = await get(state, id)
      if (view === null || isEnded(view)) return view
      // Redis missed changes while it was unreachable: polling callers read rows until the writers have stored
      // their views again.
      return now() < doubtedUntil ? null : view
    },
    close() {
      stop()
      late.close()
      return wakes.close()
    },
  }
}

async function get(state: State, id: string): Promise<VideoView | null> {
  if (!state.isReachable) return null
  const text = await within(state, VIDEO_VIEW_MS_MAX, () => state.redis.get(keyOf(id)))
  return typeof text === 'string' ? viewOf(text, id) : null
}

/**
 * Stores views that Redis did not accept once Redis is back: a view older than its row would keep a polling
 * caller waiting until the view expires. Views beyond VIDEO_VIEWS_LATE_MAX are left to the runner, which then
 * stores all views again.
 */
class LateViews {
  readonly #state: State
  readonly #late = new Map<string, VideoView>()
  readonly #stop: () => void
  #isCatchingUp = false

  constructor(state: State) {
    this.#state = state
    this.#stop = state.onChange((isReachable) => {
      if (isReachable) void this.#catchUp()
    })
  }

  async put(views: readonly VideoView[], msMax = VIDEO_VIEW_MS_MAX): Promise<boolean> {
    const isPut =
      this.#state.isReachable && (await within(this.#state, msMax, () => putAll(this.#state, views))) === true
    for (const view of views) {
      if (isPut) this.#forget(view)
      else this.#keep(view)
    }
    // If Redis refused views while it stayed reachable, this is the only sign that it accepts them again.
    if (isPut) void this.#catchUp()
    return isPut
  }

  close(): void {
    this.#stop()
    this.#late.clear()
  }

  /**
   * Stores late views in batches and waits for each: all at once would exceed the time limit, and Redis would
   * count as unreachable again and again. Views with the highest rank go first, since the stored view may be
   * older than those.
   */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    for (let isPut = true; isPut && this.#late.size > 0;) {
      const late = [...this.#late.values()].sort(
        (one, other) => videoRankOf(other.status) - videoRankOf(one.status),
      )
      for (let at = 0; isPut && at < late.length; at += VIDEO_VIEWS_PUT_AT_ONCE) {
        isPut = await this.put(late.slice(at, at + VIDEO_VIEWS_PUT_AT_ONCE), VIDEO_VIEWS_AGAIN_MS_MAX)
      }
    }
    this.#isCatchingUp = false
  }

  #keep(view: VideoView): void {
    const before = this.#late.get(view.id)
    if (before === undefined && this.#late.size >= VIDEO_VIEWS_LATE_MAX) return
    if (before === undefined || videoRankOf(before.status) <= videoRankOf(view.status))
      this.#late.set(view.id, view)
  }

  /** Forgets a late view; a newer view added meanwhile is kept. */
  #forget(view: VideoView): void {
    const kept = this.#late.get(view.id)
    if (kept !== undefined && videoRankOf(kept.status) <= videoRankOf(view.status)) this.#late.delete(view.id)
  }
}

async function putAll(state: State, views: readonly VideoView[]): Promise<boolean> {
  const unknown = await putOnce(state, views)
  if (unknown.length === 0) return true
  // Redis was restarted or its scripts were flushed.
  await state.redis.script('LOAD', PUT)
  return (await putOnce(state, unknown)).length === 0
}

/** @returns views for which the script was not loaded in Redis. Rejects when a view failed otherwise */
async function putOnce(state: State, views: readonly VideoView[]): Promise<readonly VideoView[]> {
  const pipeline = state.redis.pipeline()
  for (const view of views) {
    const keptMs = isEnded(view) ? VIDEO_VIEW_ENDED_MS : VIDEO_VIEW_OPEN_MS
    pipeline.evalsha(PUT_SHA, 1, keyOf(view.id), `${videoRankOf(view.status)}${JSON.stringify(view)}`, keptMs)
  }
  const answers = (await pipeline.exec()) ?? []
  return views.filter((_view, at) => {
    const error = answers[at]?.[0]
    if (error === null) return false
    if (error?.message.startsWith('NOSCRIPT') === true) return true
    throw error ?? new Error('no answer')
  })
}

/** Null when Redis fails or takes longer than `msMax`. If Redis takes longer, it counts as unreachable. */
async function within<T>(state: State, msMax: number, ask: () => Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const cutOff = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      // An event loop that was blocked must first read an answer that is already in the socket before Redis counts as slow.
      setImmediate(() => {
        if (timer !== undefined) state.trip()
        resolve(null)
      })
    }, msMax)
  })
  try {
    const answer = await Promise.race([ask(), cutOff])
    if (answer !== null) state.answered()
    return answer
  } catch {
    return null
  } finally {
    clearTimeout(timer)
    timer = undefined
  }
}

function isEnded({ status }: VideoView): boolean {
  return videoRankOf(status) === VIDEO_RANKS - 1
}

function keyOf(id: string): string {
  return `sluice:video:{${id}}`
}

function viewOf(text: string, id: string): VideoView | null {
  try {
    const value: unknown = JSON.parse(text.slice(1))
    return View.Check(value) && value.id === id ? value : null
  } catch {
    return null
  }
}

const CHANNEL = 'sluice:videos'

interface VideoWakes {
  wake(what: VideoWake): void
  onWake(listener: (what: VideoWake) => void): () => void
  close(): Promise<void>
}

/**
 * Wake-ups by pub/sub: a process that misses a wake-up finds the row in its next sweep. Only a process with a
 * listener subscribes.
 */
function openVideoWakes(state: State): VideoWakes {
  let channel: Channel | null = null
  const waiting = new Set<string>()
  const flush = (): void => {
    const texts = [...waiting]
    waiting.clear()
    for (const text of texts) void publishTo(state, CHANNEL, text)
  }
  return {
    // A burst of jobs sends one wake-up a tick: one message has the same effect as a hundred.
    wake(what) {
      if (waiting.size === 0) setImmediate(flush)
      waiting.add(JSON.stringify(what))
    },
    onWake(listener) {
      channel ??= openChannel(state, CHANNEL)
      return channel.listen((text) => {
        const what = wakeOf(text)
        if (what !== null) listener(what)
      })
    },
    close: () => channel?.close() ?? Promise.resolve(),
  }
}

/** Every client of Redis may publish here: a text that is not a wake-up is ignored. */
function wakeOf(text: string): VideoWake | null {
  try {
    const { kind, provider, id } = Object(JSON.parse(text)) as Record<string, unknown>
    if (kind === 'webhooks') return { kind }
    if (kind === 'jobs' && typeof provider === 'string') return { kind, provider }
    return kind === 'cancelled' && typeof id === 'string' ? { kind, id } : null
  } catch {
    return null
  }
}
