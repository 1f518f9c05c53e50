import { useEffect, useRef, useState } from 'preact/hooks'
import type { REQUESTS_PAGE_MAX } from '../../../../../schemas/requests/request-limits.ts'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import { messageOf, type Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'

/** Rows of one answer. */
const PAGE: typeof REQUESTS_PAGE_MAX = 500
/** Rows that the page keeps; older ones are found by their time. Decision. */
const KEPT_ROWS_MAX = 100_000
/** Milliseconds by which the row of a call may come later than that of a call which ended after it. */
const LATE_MS = 5_000

interface Answer {
  readonly data: readonly RequestShape[]
  readonly next_cursor: string | null
}

export interface RequestFeed {
  /** Newest end first. */
  readonly rows: readonly RequestShape[]
  readonly isLoading: boolean
  readonly problem: string | null
  /** There are older rows. */
  readonly hasMore: boolean
  loadMore(): void
  reload(): void
}

interface State {
  readonly rows: readonly RequestShape[]
  readonly cursor: string | null
  readonly isLoading: boolean
  readonly problem: string | null
}

const NOTHING: State = { rows: [], cursor: null, isLoading: true, problem: null }

/**
 * The calls that are like the search, from the newest back as far as they are looked at, and with each look of
 * the live view those that have come since.
 * @param isLive false: no new calls are added
 */
export function useRequestFeed({ api, live }: PageContext, search: Query, isLive: boolean): RequestFeed {
  const [state, setState] = useState<State>(NOTHING)
  const [round, setRound] = useState(0)
  const latest = useRef(state)
  latest.current = state
  const key = JSON.stringify(search)
  /** Ends what is on its way for another search. */
  const wanted = useRef(new AbortController())
  const ask = (more: Query, take: (answer: Answer) => State): void => {
    const { signal } = wanted.current
    setState((last) => ({ ...last, isLoading: true }))
    api.get<Answer>(['admin', 'requests'], { ...search, ...more, limit: PAGE }, signal).then(
      (answer) => signal.aborted || setState(take(answer)),
      (problem: unknown) =>
        signal.aborted || setState((last) => ({ ...last, problem: messageOf(problem), isLoading: false })),
    )
  }
  useEffect(() => {
    wanted.current = new AbortController()
    setState(NOTHING)
    ask({}, ({ data, next_cursor: cursor }) => ({ rows: data, cursor, isLoading: false, problem: null }))
    return () => wanted.current.abort()
  }, [api, key, round])
  useEffect(() => {
    if (!isLive) return undefined
    return live.subscribe(() => {
      const { rows, isLoading, problem } = latest.current
      if (isLoading || problem !== null || document.hidden) return
      const [newest] = rows
      const sinceMs = newest === undefined ? 0 : Date.parse(newest.ended_at) - LATE_MS
      const from = newest === undefined ? null : new Date(sinceMs).toISOString()
      ask({ from: laterOf(from, search['from']) }, ({ data }) => ({
        ...latest.current,
        rows: joined(data, latest.current.rows),
        isLoading: false,
      }))
    })
  }, [api, live, key, round, isLive])
  const { rows, cursor, isLoading, problem } = state
  const hasMore = cursor !== null && rows.length < KEPT_ROWS_MAX
  return {
    rows,
    isLoading,
    problem,
    hasMore,
    loadMore() {
      if (!hasMore || latest.current.isLoading || problem !== null) return
      ask({ cursor }, (answer) => ({
        rows: [...latest.current.rows, ...answer.data],
        cursor: answer.next_cursor,
        isLoading: false,
        problem: null,
      }))
    },
    reload: () => setRound((last) => last + 1),
  }
}

function laterOf(from: string | null, asked: Query[string]): string | null {
  return typeof asked === 'string' && asked !== '' && (from === null || asked > from) ? asked : from
}

/** The new rows in their places: nearly all of them are newer than what is there. */
export function joined(
  fresh: readonly RequestShape[],
  rows: readonly RequestShape[],
): readonly RequestShape[] {
  const oldest = fresh.at(-1)?.ended_at ?? ''
  const near = rows.findIndex(({ ended_at: at }) => at < oldest)
  const [head, rest] = near < 0 ? [rows, []] : [rows.slice(0, near), rows.slice(near)]
  const known = new Set(head.map(({ id }) => id))
  const added = fresh.filter(({ id }) => !known.has(id))
  if (added.length === 0) return rows
  const all = [...added, ...head].toSorted((a, b) =>
    a.ended_at < b.ended_at ? 1 : a.ended_at > b.ended_at ? -1 : 0,
  )
  return [...all, ...rest].slice(0, KEPT_ROWS_MAX)
}
