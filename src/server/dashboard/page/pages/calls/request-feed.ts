import { useEffect, useRef, useState } from 'preact/hooks'
import type { FailureWords } from '../../../../../schemas/failure-words.ts'
import type {
  REQUESTS_PAGE_MAX,
  REQUESTS_ROW_REST_MS,
} from '../../../../../schemas/requests/request-limits.ts'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import { messageOf, type Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'

/** Rows of one answer. */
const PAGE: typeof REQUESTS_PAGE_MAX = 500
/** Milliseconds to wait before the next poll, for each row that this poll returned. */
const ROW_REST_MS: typeof REQUESTS_ROW_REST_MS = 10
/** Rows that the page keeps; older rows are found by filtering by time. Decision. */
const KEPT_ROWS_MAX = 100_000
/** Milliseconds by which the row of a call may appear later than the row of a call that ended after it. */
const LATE_MS = 5_000
/** Pages that one refresh reads; if there are more new calls, the list starts over. Decision. */
const LOOK_PAGES_MAX = 4

export interface Answer extends Words {
  readonly data: readonly RequestShape[]
  readonly next_cursor: string | null
}

/** Explanations of failures, and the nearest models for misspelt model names. */
export interface Words {
  readonly errors: Readonly<Record<string, FailureWords>>
  readonly nearest_models: Readonly<Record<string, readonly string[]>>
}

export interface RequestFeed {
  /** Newest end first. */
  readonly rows: readonly RequestShape[]
  readonly words: Words
  readonly isLoading: boolean
  readonly problem: string | null
  /** There are older rows. */
  readonly hasMore: boolean
  loadMore(): void
  reload(): void
}

export interface Found {
  readonly rows: readonly RequestShape[]
  /** Cursor to the rows after the last one; null: there are none. */
  readonly cursor: string | null
  /** Time of the last poll in Unix milliseconds of the node; null before the first answer. */
  readonly lookedMs: number | null
  /** Unix milliseconds of the node before which no further poll is made. */
  readonly nextMs: number
}

interface State extends Found {
  readonly isLoading: boolean
  readonly problem: string | null
}

/** Queries the log with parameters in addition to the search. */
type Find = (more: Query) => Promise<Pick<Answer, 'data' | 'next_cursor'>>

const NOTHING: State = { rows: [], cursor: null, lookedMs: null, nextMs: 0, isLoading: true, problem: null }

/**
 * The calls that match the search, from the newest back as far as they were loaded. Each update of the live
 * view adds new ones.
 * @param isLive false: no new calls are added
 */
export function useRequestFeed({ api, live }: PageContext, search: Query, isLive: boolean): RequestFeed {
  const [state, setState] = useState<State>(NOTHING)
  const [round, setRound] = useState(0)
  const latest = useRef(state)
  latest.current = state
  const key = JSON.stringify(search)
  /** Of all answers. */
  const words = useRef<Words>({ errors: {}, nearest_models: {} }).current
  /** Aborts requests of an earlier search. */
  const wanted = useRef(new AbortController())
  const ask = (read: (find: Find) => Promise<Partial<Found>>): void => {
    const { signal } = wanted.current
    // Set at once, so that no second request begins before the next drawing.
    latest.current = { ...latest.current, isLoading: true }
    setState(latest.current)
    const find: Find = async (more) => {
      const query = { ...search, ...more, limit: PAGE }
      const answer = await api.get<Answer>(['admin', 'requests'], query, signal)
      Object.assign(words.errors, answer.errors)
      Object.assign(words.nearest_models, answer.nearest_models)
      return answer
    }
    read(find).then(
      (found) =>
        signal.aborted || setState((last) => ({ ...last, ...found, problem: null, isLoading: false })),
      (problem: unknown) =>
        signal.aborted || setState((last) => ({ ...last, problem: messageOf(problem), isLoading: false })),
    )
  }
  useEffect(() => {
    wanted.current = new AbortController()
    latest.current = NOTHING
    const view = live.state.latest
    const lookedMs = view === null ? Date.now() : Date.parse(view.at)
    ask(async (find) => {
      const { data: rows, next_cursor: cursor } = await find({})
      return { rows, cursor, lookedMs }
    })
    return () => wanted.current.abort()
  }, [api, key, round])
  useEffect(() => {
    if (!isLive) return undefined
    return live.subscribe(({ latest: view, isStale }) => {
      const { isLoading, lookedMs, nextMs } = latest.current
      if (isLoading || lookedMs === null || isStale || view === null || document.hidden) return
      const atMs = Date.parse(view.at)
      if (atMs < nextMs) return
      const span = { fromMs: lookedMs, atMs, from: search['from'] }
      ask((find) => lookAgain(find, latest.current, span))
    })
  }, [api, live, key, round, isLive])
  const { rows, cursor, isLoading, problem } = state
  const hasMore = cursor !== null && rows.length < KEPT_ROWS_MAX
  return {
    rows,
    words,
    isLoading,
    problem,
    hasMore,
    loadMore() {
      if (!hasMore || latest.current.isLoading || problem !== null) return
      ask(async (find) => {
        const { data, next_cursor: next } = await find({ cursor })
        return { rows: [...latest.current.rows, ...data], cursor: next }
      })
    },
    reload: () => setRound((last) => last + 1),
  }
}

/** The time span that a poll reads, in Unix milliseconds of the node. */
interface Span {
  /** Time of the last poll. */
  readonly fromMs: number
  readonly atMs: number
  /** That of the search. */
  readonly from: Query[string]
}

/** Reads the rows since the last poll, rather than since the newest row: a search with few results would then scan the whole log with each poll. */
export async function lookAgain(
  find: Find,
  { rows, cursor }: Pick<Found, 'rows' | 'cursor'>,
  { fromMs, atMs, from }: Span,
): Promise<Found> {
  const since = laterOf(new Date(fromMs - LATE_MS).toISOString(), from)
  const found: RequestShape[] = []
  let next: string | null = null
  for (let page = 0; page < LOOK_PAGES_MAX && (page === 0 || next !== null); page++) {
    const answer = await find({ from: since, cursor: next })
    found.push(...answer.data)
    next = answer.next_cursor
  }
  const looked = { lookedMs: atMs, nextMs: atMs + found.length * ROW_REST_MS }
  // Calls not read yet lie between these calls and the older rows: the cursor continues there.
  if (next !== null) return { rows: found, cursor: next, ...looked }
  return { rows: joined(found, rows), cursor, ...looked }
}

function laterOf(from: string, asked: Query[string]): string {
  return typeof asked === 'string' && asked > from ? asked : from
}

/** Merges new rows into the list: nearly all of them are newer than the existing rows. */
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
