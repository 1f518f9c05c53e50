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
/** Milliseconds that a look rests for each row of it. */
const ROW_REST_MS: typeof REQUESTS_ROW_REST_MS = 10
/** Rows that the page keeps; older ones are found by their time. Decision. */
const KEPT_ROWS_MAX = 100_000
/** Milliseconds by which the row of a call may come later than that of a call which ended after it. */
const LATE_MS = 5_000
/** Pages that one refresh follows; after more new calls than these, the list starts over. Decision. */
const LOOK_PAGES_MAX = 4

export interface Answer extends Words {
  readonly data: readonly RequestShape[]
  readonly next_cursor: string | null
}

/** What failures mean, and which models misspelt ones may stand for, by their names. */
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
  /** Of the rows after the last one. */
  readonly cursor: string | null
  /** Unix milliseconds of the node as of the last look; null before the first answer. */
  readonly lookedMs: number | null
  /** Unix milliseconds of the node before which no further look is made. */
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
  /** Of all answers. */
  const words = useRef<Words>({ errors: {}, nearest_models: {} }).current
  /** Ends what is on its way for another search. */
  const wanted = useRef(new AbortController())
  const ask = (read: (find: Find) => Promise<Partial<Found>>): void => {
    const { signal } = wanted.current
    // At once: nothing else begins before the next drawing.
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

/** What a look reads, in Unix milliseconds of the node. */
interface Span {
  /** When the last look was. */
  readonly fromMs: number
  readonly atMs: number
  /** That of the search. */
  readonly from: Query[string]
}

/**
 * Reads what has come since the last look: not since the newest row, as a search that finds little would then
 * examine the whole log with each look.
 */
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
  // Calls that no look has read lie between these calls and the older rows: the cursor leads to them.
  if (next !== null) return { rows: found, cursor: next, ...looked }
  return { rows: joined(found, rows), cursor, ...looked }
}

function laterOf(from: string, asked: Query[string]): string {
  return typeof asked === 'string' && asked > from ? asked : from
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
