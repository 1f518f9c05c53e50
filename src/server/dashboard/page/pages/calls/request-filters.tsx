import { h, type ComponentChild } from 'preact'
import type { ListRequestsQuery } from '../../../../../schemas/requests/requests.ts'
import type { Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { SearchField, WorkspaceFilter } from '../../parts/filters.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'

type Name = Exclude<
  keyof ListRequestsQuery,
  'cursor' | 'limit' | 'format' | 'unauthenticated' | 'failed' | 'to'
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

/** What the address asks for, as the operation takes it. */
export function searchOf(query: URLSearchParams): Query {
  const given = NAMES.map((name) => [name, query.get(name) ?? ''] as const).filter(([, text]) => text !== '')
  const [, , shown = {}] = SHOWN.find(([value]) => value === (query.get('show') ?? '')) ?? []
  return { ...shown, ...Object.fromEntries(given) }
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
  const since = (hours: string): void =>
    setQuery({
      hours,
      from: hours === '' ? null : new Date(Date.now() - Number(hours) * HOUR_MS).toISOString(),
      call: null,
    })
  return (
    <form class="filters" role="search" aria-label="Calls" onSubmit={(event) => event.preventDefault()}>
      <SelectField
        label="Show"
        value={query.get('show') ?? ''}
        options={SHOWN.map(([value, text]) => [value, text] as const)}
        onInput={set('show')}
      />
      <SelectField label="Ended" value={query.get('hours') ?? ''} options={SINCE} onInput={since} />
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
