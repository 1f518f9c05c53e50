import { useEffect, useState } from 'preact/hooks'
import type { LiveView } from '../../../schemas/operator/live-view.ts'
import { messageOf, type Api } from './api.ts'

/** Views that are kept for the plots: five minutes at one a second. Decision. */
const DASHBOARD_LOOKS = 300
/** Milliseconds without an update after which figures are shown as stale. */
const STALE_MS = 3_500
const BACK_OFF_MS = [500, 1_000, 2_000, 4_000, 8_000] as const
/** Characters of one event; a longer event means that the stream is not Sluice's. */
const EVENT_CHARS_MAX = 4 * 1024 * 1024
/** Milliseconds after which a hidden page closes the live stream, so that it costs the node nothing. Decision. */
const DASHBOARD_HIDDEN_MS = 30_000

export interface LiveState {
  /** The last views, the newest at the end. */
  readonly looks: readonly LiveView[]
  readonly latest: LiveView | null
  /** True while figures are out of date: before the first view, and when the stream stops. */
  readonly isStale: boolean
  /** The reason why figures are stale, if known. */
  readonly problem: string | null
}

export interface LiveFeed {
  readonly state: LiveState
  subscribe(listener: (state: LiveState) => void): () => void
  close(): void
}

export function openLiveFeed(api: Api): LiveFeed {
  const listeners = new Set<(state: LiveState) => void>()
  const closed = new AbortController()
  let state: LiveState = { looks: [], latest: null, isStale: true, problem: null }
  let lateTimer = 0
  const tell = (change: Partial<LiveState>): void => {
    state = { ...state, ...change }
    for (const listener of listeners) listener(state)
  }
  const take = (latest: LiveView): void => {
    clearTimeout(lateTimer)
    lateTimer = window.setTimeout(() => tell({ isStale: true }), STALE_MS)
    tell({
      looks: [...state.looks.slice(1 - DASHBOARD_LOOKS), latest],
      latest,
      isStale: false,
      problem: null,
    })
  }
  void follow(api, { signal: closed.signal, take, fail: (problem) => tell({ isStale: true, problem }) })
  return {
    get state() {
      return state
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      clearTimeout(lateTimer)
      closed.abort()
      listeners.clear()
    },
  }
}

/** Redraws with every new view. */
export function useLive(feed: LiveFeed): LiveState {
  const [state, setState] = useState(feed.state)
  useEffect(() => {
    setState(feed.state)
    return feed.subscribe(setState)
  }, [feed])
  return state
}

/** Unix milliseconds by the clock of the node, which may differ from the browser's. */
export function nodeNow({ live }: { readonly live: LiveFeed }): number {
  const { latest } = live.state
  return latest === null ? Date.now() : Date.parse(latest.at)
}

interface Follower {
  readonly signal: AbortSignal
  take(look: LiveView): void
  fail(problem: string): void
}

/** Reads the stream and reopens it when it ends, until the signal is aborted or the key is refused, which `Api` has already reported. */
async function follow(api: Api, { signal, take, fail }: Follower): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    await untilSeen(signal)
    const watch = watchHidden(signal)
    try {
      const response = await api.open(['admin', 'live'], {}, watch.signal)
      for await (const look of eventsOf(response)) {
        failures = 0
        take(look)
      }
      fail('The stream has ended.')
    } catch (problem) {
      if (!watch.signal.aborted) fail(messageOf(problem))
    } finally {
      watch.end()
    }
    if (!document.hidden) await pause(BACK_OFF_MS[Math.min(failures++, BACK_OFF_MS.length - 1)] ?? 0, signal)
  }
}

async function* eventsOf(response: Response): AsyncGenerator<LiveView> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += read.value
      if (text.length > EVENT_CHARS_MAX) return
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events)
        for (const line of event.split('\n'))
          if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as LiveView
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** A signal that is aborted with the given one, and when the page has been hidden for DASHBOARD_HIDDEN_MS. */
function watchHidden(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const hidden = new AbortController()
  let timer = 0
  const look = (): void => {
    clearTimeout(timer)
    if (document.hidden) timer = window.setTimeout(() => hidden.abort(), DASHBOARD_HIDDEN_MS)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return {
    signal: AbortSignal.any([signal, hidden.signal]),
    end: () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    },
  }
}

function untilSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!document.hidden || signal.aborted) return resolve()
    const done = (): void => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done)
  })
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done)
  })
}
