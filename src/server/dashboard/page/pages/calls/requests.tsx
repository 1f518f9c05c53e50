import { type ComponentChild, h } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import type { REQUESTS_EXPORT_MAX } from '../../../../../schemas/requests/request-limits.ts'
import type { Page, PageContext } from '../../page.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { CheckField, Form, SelectField } from '../../parts/fields.tsx'
import { count, duration, NONE, usd } from '../../parts/figures.tsx'
import { useKeyNames, type KeyNames } from '../../parts/key-names.ts'
import { linkWith } from '../../parts/lists.tsx'
import { VirtualTable } from '../../parts/virtual-table.tsx'
import type { Query } from '../../api.ts'
import { Dialog, useAction } from '../../parts/dialog.tsx'
import { RequestDialog } from './request-dialog.tsx'
import { useRequestFeed } from './request-feed.ts'
import { RequestFilters, RequestPresets, searchOf } from './request-filters.tsx'

export const requestsPage: Page = {
  path: 'requests',
  title: 'Requests',
  letter: 'r',
  view: (context) => <Requests {...context} />,
}

/** Finished calls: their callers, errors, durations and costs. */
function Requests(context: PageContext): ComponentChild {
  const { query, setQuery } = context
  const keys = useKeyNames(context)
  const { nameOf } = keys
  const search = searchOf(query)
  const [isLive, setLive] = useState(true)
  const [isExporting, setExporting] = useState(false)
  const { rows, words, isLoading, problem, hasMore, loadMore, reload } = useRequestFeed(
    context,
    search,
    isLive,
  )
  const looked = useOpenCall(query.get('call'), rows)
  const text = query.toString()
  const columns = useMemo(() => callColumns(query, nameOf), [text, nameOf])
  const isEmpty = rows.length === 0
  return (
    <div>
      <RequestPresets setQuery={setQuery} />
      <RequestFilters context={context} keys={keys} rows={rows} />
      <section class="panel" aria-label="Calls" aria-busy={isLoading && isEmpty}>
        <div class="head">
          <Shown shown={rows.length} hasMore={hasMore} loadMore={loadMore} />
          <div class="actions">
            <CheckField label="Live" isOn={isLive} onChange={setLive} />
            <button type="button" onClick={reload}>
              Reload
            </button>
            <button type="button" onClick={() => setExporting(true)}>
              Export
            </button>
          </div>
        </div>
        <Problem text={problem} />
        {isEmpty ? (
          <Nothing isLoading={isLoading} hasMore={hasMore} loadMore={loadMore} />
        ) : (
          <VirtualTable<RequestShape>
            caption="Calls, newest first"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            isMarked={({ id }) => id === looked?.id}
            onChoose={({ id }) => setQuery({ call: id })}
            onEnd={loadMore}
          />
        )}
      </section>
      {isExporting && (
        <ExportDialog
          api={context.api}
          say={context.say}
          search={search}
          onClose={() => setExporting(false)}
        />
      )}
      {looked !== undefined && (
        <RequestDialog
          key={looked.id}
          request={looked}
          words={words}
          nameOf={nameOf}
          onClose={() => setQuery({ call: null })}
        />
      )}
    </div>
  )
}

/** The call of that id; it stays open when the list reloads without it. */
function useOpenCall(id: string | null, rows: readonly RequestShape[]): RequestShape | undefined {
  const last = useRef<RequestShape | undefined>(undefined)
  const kept = last.current?.id === id ? last.current : undefined
  last.current = id === null ? undefined : (rows.find((row) => row.id === id) ?? kept)
  return last.current
}

function Problem({ text }: { readonly text: string | null }): ComponentChild {
  if (text === null) return null
  return (
    <p class="notice bad" role="alert">
      {text}
    </p>
  )
}

interface ShownProps {
  readonly shown: number
  readonly hasMore: boolean
  loadMore(): void
}

/** The number of calls shown, with a button to load older ones. */
function Shown({ shown, hasMore, loadMore }: ShownProps): ComponentChild {
  return (
    <p class="hint">
      <span role="status">{shown === 0 ? '' : `${count(shown)} shown`}</span>
      {shown > 0 &&
        hasMore && [
          '; ',
          <button key="older" type="button" class="link" onClick={loadMore}>
            load older
          </button>,
        ]}
    </p>
  )
}

/** Shown when a search finds nothing among the newest rows: older rows may match. */
function Nothing({
  isLoading,
  hasMore,
  loadMore,
}: {
  readonly isLoading: boolean
  readonly hasMore: boolean
  loadMore(): void
}): ComponentChild {
  if (isLoading)
    return (
      <p class="waiting" role="status">
        Loading…
      </p>
    )
  if (hasMore)
    return (
      <p class="empty">
        {'No matches among the newest calls. '}
        <button type="button" onClick={loadMore}>
          Search older calls
        </button>
      </p>
    )
  return (
    <p class="empty">
      {'No calls match. Calls appear one second after they end, unless '}
      <code>SLUICE_KEEP_REQUESTS</code>
      {' is off.'}
    </p>
  )
}

const MINUTE_CHARS = 'hh:mm'.length
const FAILED_FROM = 500
const REFUSED_FROM = 400

export function toneOf({ status, error_type: error }: Pick<RequestShape, 'status' | 'error_type'>): Tone {
  if (status === null) return 'plain'
  if (status >= FAILED_FROM || (error !== null && status < REFUSED_FROM)) return 'bad'
  return status >= REFUSED_FROM ? 'warn' : 'good'
}

/** The columns of a table of calls. @param query of the page Requests, on which a call is opened */
export function callColumns(
  query: URLSearchParams,
  nameOf: KeyNames['nameOf'],
): readonly Column<RequestShape>[] {
  return [
    {
      title: 'Ended',
      kind: 'ended',
      isName: true,
      cell: ({ id, ended_at: at, request_id: name }) => (
        <a href={linkWith('requests', query, { call: id })} title={`${at} ${name}`}>
          {timeOf(at)}
        </a>
      ),
    },
    {
      title: 'Status',
      kind: 'status',
      cell: (row) => <Badge text={row.status === null ? '?' : String(row.status)} tone={toneOf(row)} />,
    },
    {
      title: 'Operation',
      kind: 'operation',
      cell: ({ operation, weight }) => cut(weight === 1 ? operation : `${operation} ×${count(weight)}`),
    },
    // Empty for a call that succeeded: a card then omits the row.
    { title: 'Error', kind: 'error', cell: (row) => row.error_type !== null && cut(errorText(row)) },
    {
      title: 'Key',
      kind: 'key',
      cell: (row) => cut(row.key === null ? NONE : nameOf(row.key, row.key_name)),
    },
    { title: 'Model', kind: 'model', cell: ({ model }) => cut(model ?? NONE) },
    { title: 'Provider', kind: 'provider', cell: ({ provider }) => cut(provider ?? NONE) },
    { title: 'Duration', kind: 'duration', isNumber: true, cell: ({ duration_ms: ms }) => duration(ms) },
    { title: 'Tokens', kind: 'tokens', isNumber: true, cell: ({ tokens }) => tokensText(tokens) },
    { title: 'Cost', kind: 'cost', isNumber: true, cell: ({ cost_usd: cost }) => usd(cost) },
  ]
}

/** A text that its column may cut; hovering shows all of it. */
const cut = (text: string): ComponentChild => <span title={text}>{text}</span>

function errorText({ error_type: error, limit }: RequestShape): string {
  return error === null ? '' : limit === null ? error : `${error} · ${limit}`
}

function tokensText({ input, output }: RequestShape['tokens']): string {
  if (input === null && output === null) return NONE
  return output === null ? count(input) : `${count(input)} → ${count(output)}`
}

/** The time of day to the second; of another day its date, to the minute. */
function timeOf(at: string): string {
  const when = new Date(at)
  const time = when.toLocaleTimeString('en-GB')
  return when.toDateString() === new Date().toDateString()
    ? time
    : `${when.toLocaleDateString('en-GB', { day: '2-digit', month: 'short' })} ${time.slice(0, MINUTE_CHARS)}`
}

/** Rows of a file. */
const ROWS_MAX: typeof REQUESTS_EXPORT_MAX = 100_000
/** Milliseconds that a browser has to begin the download before its bytes are released. */
const KEPT_MS = 60_000

const FORMATS = [
  ['csv', 'CSV, for spreadsheets'],
  ['ndjson', 'NDJSON, one JSON object per line'],
] as const

interface ExportDialogProps extends Pick<PageContext, 'api' | 'say'> {
  readonly search: Query
  onClose(): void
}

function ExportDialog({ api, say, search, onClose }: ExportDialogProps): ComponentChild {
  const [format, setFormat] = useState<string>(FORMATS[0][0])
  const { isBusy, problem, start } = useAction(
    async () => {
      const query = { ...search, format, all: true }
      const answer = await api.open(['admin', 'requests'], query, new AbortController().signal)
      save(await answer.blob(), `requests.${format}`)
    },
    () => {
      say('Calls exported.')
      onClose()
    },
  )
  return (
    <Dialog title="Export calls" onClose={onClose}>
      <Form action="Export" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        <SelectField
          label="Format"
          value={format}
          options={FORMATS}
          onInput={setFormat}
          hint={`Exports the newest ${count(ROWS_MAX)} calls that match the filters.`}
        />
      </Form>
    </Dialog>
  )
}

function save(bytes: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(bytes)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
}
