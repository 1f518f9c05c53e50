import { h, type ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import type { Query } from '../../api.ts'
import { nodeNow } from '../../live.ts'
import { hashOf, type PageContext } from '../../page.ts'
import { Badge } from '../../parts/badge.tsx'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { count, Time } from '../../parts/figures.tsx'
import { useKeyNames } from '../../parts/key-names.ts'
import { useLoaded, type Loaded } from '../../parts/loaded.tsx'
import type { Answer } from '../calls/request-feed.ts'
import { callColumns, toneOf } from '../calls/requests.tsx'

/** Calls that are read to count errors and clients that left, and calls that are listed. */
export const CALLS_READ = 500
const CALLS_SHOWN = 10
export const DAY_MS = 86_400_000

/** Parameters of `GET /admin/requests`, which are also parameters of the page Requests. */
export type CallSearch = Readonly<Record<string, string>>

export interface CallsProps {
  readonly context: PageContext
  readonly search: CallSearch
}

/** Failures of the last day, by error, and the last calls, for the key, model or workspace of the search. */
export function Calls(props: CallsProps): ComponentChild {
  return (
    <div class="stack">
      <Errors {...props} />
      <LastCalls {...props} />
    </div>
  )
}

interface Failure {
  readonly newest: RequestShape
  readonly calls: number
}

function Errors({ context, search }: CallsProps): ComponentChild {
  const loaded = useRequests(context, { ...search, failed: true, limit: CALLS_READ }, DAY_MS)
  const columns: readonly Column<Failure>[] = [
    {
      title: 'Error',
      isName: true,
      cell: ({ newest: { error_type: error, status } }) => (
        <a
          href={hashOf('requests', {
            ...search,
            error_type: error,
            ...(error === null && { status: String(status) }),
          })}
        >
          {error ?? 'unknown'}
        </a>
      ),
    },
    { title: 'Status', cell: ({ newest }) => <Badge text={String(newest.status)} tone={toneOf(newest)} /> },
    { title: 'Limit', cell: ({ newest: { limit } }) => limit },
    { title: 'Calls', isNumber: true, cell: ({ calls }) => count(calls), sortBy: ({ calls }) => calls },
    { title: 'Last', cell: ({ newest: { ended_at: at } }) => <Time at={at} /> },
    {
      title: 'Docs',
      cell: ({ newest: { docs_url: docs } }) =>
        docs !== null && (
          <a href={docs} target="_blank" rel="noreferrer">
            Cause and fix
          </a>
        ),
    },
  ]
  return (
    <section class="panel" aria-label="Errors">
      <h2>Errors in the last day</h2>
      <LoadedTable<Failure>
        caption={`Errors in the last day, from up to ${CALLS_READ} failed calls`}
        columns={columns}
        loaded={{ ...loaded, value: loaded.value && failuresOf(loaded.value.data) }}
        keyOf={({ newest: { id } }) => id}
        empty="No failed calls."
      />
      {loaded.value?.next_cursor !== null && loaded.value !== undefined && (
        <p class="hint">{`Counted from the newest ${count(loaded.value.data.length)} failed calls; older calls failed too.`}</p>
      )}
    </section>
  )
}

/** Failures grouped by error, status and limit, the most frequent first. @param rows the newest first */
export function failuresOf(rows: readonly RequestShape[]): readonly Failure[] {
  const kinds = new Map<string, Failure>()
  for (const row of rows) {
    const kind = JSON.stringify([row.error_type, row.status, row.limit])
    const { newest, calls } = kinds.get(kind) ?? { newest: row, calls: 0 }
    kinds.set(kind, { newest, calls: calls + row.weight })
  }
  return [...kinds.values()].toSorted((a, b) => b.calls - a.calls)
}

function LastCalls({ context, search }: CallsProps): ComponentChild {
  const loaded = useRequests(context, { ...search, limit: CALLS_SHOWN })
  const { nameOf } = useKeyNames(context)
  // Columns with the same value for all calls are left out: the heading of the page shows it.
  const columns = useMemo(
    () =>
      callColumns(new URLSearchParams(search), nameOf).filter(
        ({ title }) => search[title.toLowerCase()] === undefined,
      ),
    [nameOf],
  )
  return (
    <section class="panel" aria-label="Last calls">
      <div class="head">
        <h2>Last calls</h2>
        <a href={hashOf('requests', search)}>View all calls</a>
      </div>
      <LoadedTable<RequestShape>
        caption="Last calls"
        columns={columns}
        loaded={{ ...loaded, value: loaded.value?.data }}
        keyOf={({ id }) => id}
        isFixed
        empty="No calls in the request log."
      />
    </section>
  )
}

/** @param withinMs milliseconds before now from which calls are included; undefined: all calls */
export function useRequests(context: PageContext, search: Query, withinMs?: number): Loaded<Answer> {
  const { api } = context
  return useLoaded(
    (signal) => {
      const from = withinMs && new Date(nodeNow(context) - withinMs).toISOString()
      return api.get<Answer>(['admin', 'requests'], { ...search, from }, signal)
    },
    [api, JSON.stringify(search)],
  )
}
