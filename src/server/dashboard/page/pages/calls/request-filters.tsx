import { h, type ComponentChild } from 'preact'
import type { ListRequestsQuery } from '../../../../../schemas/requests/requests.ts'
import type { Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { SearchField, WorkspaceFilter } from '../../parts/filters.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'

type Name = Exclude<
  keyof ListRequestsQuery,
  'cursor' | 'limit' | 'format' | 'unauthenticated' | 'failed' | 'left' | 'to'
>

const NAMES: readonly Name[] = [
  'request_id',
  'key',
  'model',
  'provider',
  'operation',
  'error_type',
  'status',
  'min_duration_ms',
  'min_cost_usd',
  'workspace_id',
  'from',
]

const SHOWN: readonly (readonly [string, string, Query])[] = [
  ['', 'All calls', {}],
  ['failed', 'Failed', { failed: true }],
  ['left', 'Client left', { left: true }],
  ['paid', 'Paid', { min_cost_usd: 1e-9 }],
  ['nobody', 'Without a valid key', { unauthenticated: true }],
]

const SINCE: readonly (readonly [hours: string, text: string])[] = [
  ['', 'Any time'],
  ['0.25', 'Last 15 minutes'],
  ['1', 'Last hour'],
  ['24', 'Last day'],
]
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Milliseconds from which on a call is shown as slow. */
const SLOW_MS = '5000'

type Change = Readonly<Record<string, string | null>>

/** To a whole minute, so that a link stays the same while it is looked at. */
const since = (hours: string): Change => ({
  hours,
  from:
    hours === ''
      ? null
      : new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - Number(hours) * HOUR_MS).toISOString(),
  call: null,
})
/** What the address has for the last hour, and nothing of another search. */
const lately = (change: Change): Change => ({
  ...Object.fromEntries([...NAMES, 'show'].map((name) => [name, null])),
  ...since('1'),
  ...change,
})
export const failedLately = (): Change => lately({ show: 'failed' })

/** What the address asks for, as the operation takes it. */
export function searchOf(query: URLSearchParams): Query {
  const given = NAMES.map((name) => [name, query.get(name) ?? ''] as const).filter(([, text]) => text !== '')
  const [, , shown = {}] = SHOWN.find(([value]) => value === (query.get('show') ?? '')) ?? []
  return { ...shown, ...Object.fromEntries(given) }
}

/** What is searched most often, at one click. */
export function RequestPresets({ setQuery }: Pick<PageContext, 'setQuery'>): ComponentChild {
  return (
    <p class="actions">
      <button type="button" class="small" onClick={() => setQuery(failedLately())}>
        Failed in the last hour
      </button>
      <button type="button" class="small" onClick={() => setQuery(lately({ min_duration_ms: SLOW_MS }))}>
        Slow in the last hour
      </button>
    </p>
  )
}

/** Fields that search when typing pauses. */
export function RequestFilters({ context }: { readonly context: PageContext }): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const set =
    (name: string) =>
    (value: string): void =>
      setQuery({ [name]: value, call: null })
  const field = (name: Name, label: string, placeholder: string): ComponentChild => (
    <SearchField label={label} placeholder={placeholder} value={query.get(name) ?? ''} onSearch={set(name)} />
  )
  return (
    <form class="filters" role="search" aria-label="Calls" onSubmit={(event) => event.preventDefault()}>
      <SelectField
        label="Show"
        value={query.get('show') ?? ''}
        options={SHOWN.map(([value, text]) => [value, text] as const)}
        onInput={set('show')}
      />
      <SelectField
        label="Ended"
        value={query.get('hours') ?? ''}
        options={SINCE}
        onInput={(hours) => setQuery(since(hours))}
      />
      {field('key', 'Key', 'begin of its hash')}
      {field('model', 'Model', 'openai/gpt-5')}
      {field('error_type', 'Error', 'rate_limited')}
      {field('status', 'Status', '429 or 5xx')}
      {field('provider', 'Provider', 'openai')}
      {field('operation', 'Operation', 'embeddings.create')}
      {field('request_id', 'Request', 'x-request-id')}
      <TextField
        label="At least ms"
        type="number"
        min={0}
        value={query.get('min_duration_ms') ?? ''}
        onInput={set('min_duration_ms')}
      />
      <WorkspaceFilter
        workspaces={workspaces}
        value={query.get('workspace_id') ?? ''}
        onChoose={set('workspace_id')}
      />
    </form>
  )
}
