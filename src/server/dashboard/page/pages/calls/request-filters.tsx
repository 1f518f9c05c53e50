import { Fragment, h, type ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { FailureName } from '../../../../../schemas/failures.ts'
import type { Model } from '../../../../../schemas/models/models.ts'
import type { ProviderShape } from '../../../../../schemas/models/providers.ts'
import type { ListRequestsQuery, RequestShape } from '../../../../../schemas/requests/requests.ts'
import type { Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'
import { ComboField, type Choice } from '../../parts/combo-field.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { SearchField } from '../../parts/filters.tsx'
import type { KeyNames } from '../../parts/key-names.ts'
import { useLoaded } from '../../parts/loaded.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'
import { REPEATABLE } from './request-steps.ts'

type Name = Exclude<
  keyof ListRequestsQuery,
  'all' | 'cursor' | 'limit' | 'format' | 'unauthenticated' | 'failed' | 'left' | 'to'
>

const NAMES: readonly Name[] = [
  'request_id',
  'key',
  'key_name',
  'model',
  'model_prefix',
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
  ['nobody', 'No valid key', { unauthenticated: true }],
]

const SINCE: readonly (readonly [hours: string, text: string])[] = [
  ['', 'Any time'],
  ['0.25', 'Last 15 minutes'],
  ['1', 'Last hour'],
  ['24', 'Last day'],
]
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Milliseconds from which a call is shown as slow. */
const SLOW_MS = '5000'

type Change = Readonly<Record<string, string | null>>

/** Rounded to a whole minute, so that a link stays the same for a while. */
const since = (hours: string): Change => ({
  hours,
  from:
    hours === ''
      ? null
      : new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - Number(hours) * HOUR_MS).toISOString(),
  call: null,
})
/** The address for the last hour, without other filters. */
const lately = (change: Change): Change => ({
  ...Object.fromEntries([...NAMES, 'show'].map((name) => [name, null])),
  ...since('1'),
  ...change,
})
export const failedLately = (): Change => lately({ show: 'failed' })

/** The search in the address, as parameters of the operation. */
export function searchOf(query: URLSearchParams): Query {
  const given = NAMES.map((name) => [name, query.get(name) ?? ''] as const).filter(([, text]) => text !== '')
  const [, , shown = {}] = SHOWN.find(([value]) => value === (query.get('show') ?? '')) ?? []
  return { ...shown, ...Object.fromEntries(given) }
}

/** Buttons for the most frequent searches. */
export function RequestPresets({ setQuery }: Pick<PageContext, 'setQuery'>): ComponentChild {
  return (
    <p class="actions">
      <button type="button" class="small" onClick={() => setQuery(failedLately())}>
        Failed calls in the last hour
      </button>
      <button type="button" class="small" onClick={() => setQuery(lately({ min_duration_ms: SLOW_MS }))}>
        Slow calls in the last hour
      </button>
    </p>
  )
}

interface RequestFiltersProps {
  readonly context: PageContext
  readonly keys: KeyNames
  /** The calls found: their names are suggested. */
  readonly rows: readonly RequestShape[]
}

/** Fields that search when typing pauses; on a telephone a button opens them. */
export function RequestFilters({ context, keys, rows }: RequestFiltersProps): ComponentChild {
  const { query, setQuery } = context
  const [isOpen, setOpen] = useState(false)
  const set =
    (name: string) =>
    (value: string): void =>
      setQuery({ [name]: value, call: null })
  const inUse = [...NAMES, 'show'].filter((name) => name !== 'from' && query.has(name)).length
  const count = inUse + Number(query.has('hours'))
  const clear = (): void =>
    setQuery(Object.fromEntries([...NAMES, 'show', 'hours', 'call'].map((name) => [name, null])))
  return (
    <div class="stack">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </button>
      <form
        class={isOpen ? 'filters' : 'filters folded'}
        role="search"
        aria-label="Calls"
        onSubmit={(event) => event.preventDefault()}
      >
        <SelectField
          label="Result"
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
        <NamedFilters context={context} keys={keys} rows={rows} />
        <SearchField
          label="Status"
          placeholder="429 or 5xx"
          value={query.get('status') ?? ''}
          onSearch={set('status')}
        />
        <SearchField
          label="Request"
          placeholder="x-request-id"
          value={query.get('request_id') ?? ''}
          onSearch={set('request_id')}
        />
        <TextField
          label="Min. duration (ms)"
          type="number"
          min={0}
          value={query.get('min_duration_ms') ?? ''}
          onInput={set('min_duration_ms')}
        />
        {count > 0 && (
          <button type="button" onClick={clear}>
            Clear filters
          </button>
        )}
      </form>
    </div>
  )
}

/** Filters by the name of something, with suggestions. */
function NamedFilters({ context, keys, rows }: RequestFiltersProps): ComponentChild {
  const { api, query, setQuery } = context
  const choices = useChoices(context, keys, rows)
  const workspaces = useWorkspaces(api)
  const get = (name: string): string => query.get(name) ?? ''
  const set = (change: Change): void => setQuery({ ...change, call: null })
  const exact = (
    name: Name,
    label: string,
    found: readonly Choice[],
    placeholder: string,
  ): ComponentChild => (
    <ComboField
      label={label}
      placeholder={placeholder}
      text={found.find(({ value }) => value === get(name))?.text ?? get(name)}
      choices={found}
      onChoose={({ value }) => set({ [name]: value })}
      onText={(text) => set({ [name]: text })}
    />
  )
  const hash = get('key')
  return (
    <Fragment>
      <ComboField
        label="Key"
        placeholder="Name or hash"
        takesParts
        text={hash === '' ? get('key_name') : keyText(keys, hash)}
        choices={choices.keys}
        onChoose={({ value }) => set({ key: value, key_name: null })}
        onText={(text) => set(keySearch(text))}
      />
      <ComboField
        label="Model"
        placeholder="First letters"
        takesParts
        text={get('model') === '' ? get('model_prefix') : get('model')}
        choices={choices.models}
        onChoose={({ value }) => set({ model: value, model_prefix: null })}
        onText={(text) => set({ model: null, model_prefix: text })}
      />
      {exact('error_type', 'Error', choices.errors, 'rate_limited')}
      {exact('provider', 'Provider', choices.providers, 'openai')}
      {exact('operation', 'Operation', choices.operations, 'chat.create')}
      {exact(
        'workspace_id',
        'Workspace',
        (workspaces.loaded.value ?? []).map(({ id, name, slug }) => ({ value: id, text: name, note: slug })),
        'All',
      )}
    </Fragment>
  )
}

/** The beginning of a hash. People do not give keys such names. */
const HASH_BEGIN = /^[0-9a-f]{6,64}$/

export function keySearch(text: string): Change {
  return HASH_BEGIN.test(text) ? { key: text, key_name: null } : { key: null, key_name: text }
}

const keyText = ({ keys, nameOf }: KeyNames, hash: string): string =>
  keys.some((key) => key.hash === hash) ? nameOf(hash) : hash

interface Choices {
  readonly keys: readonly Choice[]
  readonly models: readonly Choice[]
  readonly providers: readonly Choice[]
  readonly operations: readonly Choice[]
  readonly errors: readonly Choice[]
}

/** Suggestions from the node's lists and from the calls found. */
function useChoices(
  { api }: PageContext,
  { keys, nameOf }: KeyNames,
  rows: readonly RequestShape[],
): Choices {
  const providers = useLoaded(
    async (signal) => (await api.get<{ data: readonly ProviderShape[] }>(['providers'], {}, signal)).data,
    [api],
  )
  const models = useLoaded(
    async (signal) =>
      (await api.get<{ data: readonly Model[] }>(['models'], { output_modalities: 'all' }, signal)).data,
    [api],
  )
  return useMemo(
    () => ({
      keys: keys.map(({ hash, kind, disabled }) => ({
        value: hash,
        text: nameOf(hash),
        note: disabled ? `${kind}, disabled` : kind,
      })),
      models: namesIn([...(models.value ?? []).map(({ id }) => id), ...rows.map(({ model }) => model)]),
      providers: namesIn([
        ...(providers.value ?? []).map(({ slug }) => slug),
        ...rows.map(({ provider }) => provider),
      ]),
      operations: namesIn([...Object.keys(REPEATABLE), ...rows.map(({ operation }) => operation)]),
      errors: namesIn([...ERRORS, ...rows.map(({ error_type: error }) => error)]),
    }),
    [keys, models.value, providers.value, rows],
  )
}

function namesIn(texts: readonly (string | null)[]): readonly Choice[] {
  return [...new Set(texts)].filter((text) => text !== null).map((text) => ({ value: text, text }))
}

/** The failures of model calls that operators search for most. */
const ERRORS: readonly FailureName[] = [
  'body_invalid',
  'budget_exceeded',
  'credit_exhausted',
  'key_disabled',
  'key_limit_exceeded',
  'model_unknown',
  'rate_limited',
  'upstream_failed',
  'upstream_invalid',
  'upstream_overloaded',
  'upstream_slow',
]
