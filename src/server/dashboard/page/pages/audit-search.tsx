import { h, type ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ListAuditQuery } from '../../../../schemas/audit/audit.ts'
import type { PageContext } from '../page.ts'
import { ComboField } from '../parts/combo-field.tsx'
import { SelectField, TextField } from '../parts/fields.tsx'
import { WorkspaceFilter } from '../parts/filters.tsx'
import type { AuditNames } from './audit/names.ts'

type Name = Exclude<keyof ListAuditQuery, 'before' | 'limit'>
export type Search = Readonly<Record<Name, string>>

const NOTHING: Search = {
  operation: '',
  object_kind: '',
  object_id: '',
  actor_id: '',
  outcome: '',
  workspace_id: '',
  since: '',
  until: '',
}
const NAMES = Object.keys(NOTHING) as readonly Name[]
const OUTCOMES: readonly (readonly [NonNullable<ListAuditQuery['outcome']> | '', string])[] = [
  ['', 'Any'],
  ['changed', 'Changed'],
  ['released', 'Released'],
  ['refused', 'Refused'],
]

/** What the address asks for; instants as ISO 8601. */
export function searchOf(query: URLSearchParams): Search {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ''])) as Search
}

/**
 * Fields of a search that begins when asked to: each is matched as a whole, so that half a word finds
 * nothing.
 */
export function AuditSearch({
  context: { query, setQuery },
  names: { keys, workspaces },
}: {
  readonly context: PageContext
  readonly names: AuditNames
}): ComponentChild {
  const asked = searchOf(query)
  const [input, setInput] = useState(() => fieldsOf(asked))
  useEffect(() => setInput(fieldsOf(asked)), [JSON.stringify(asked)])
  const set =
    (name: Name) =>
    (value: string): void =>
      setInput((last) => ({ ...last, [name]: value }))
  const field = (name: Name, label: string, placeholder: string): ComponentChild => (
    <TextField label={label} placeholder={placeholder} value={input[name]} onInput={set(name)} />
  )
  const instant = (name: 'since' | 'until', label: string): ComponentChild => (
    <TextField label={label} type="datetime-local" step={1} value={input[name]} onInput={set(name)} />
  )
  const search = (fields: Search): void => setQuery({ ...soughtBy(fields), before: null, event: null })
  const choices = keys.keys.map(({ hash, kind }) => ({ value: hash, text: keys.nameOf(hash), note: kind }))
  const objects = (workspaces.loaded.value ?? []).map(({ id, name }) => ({
    ...{ value: id, text: name, note: 'workspace' },
  }))
  const named = (name: 'object_id' | 'actor_id', label: string, placeholder: string): ComponentChild => {
    const all = name === 'actor_id' ? choices : [...choices, ...objects]
    return (
      <ComboField
        label={label}
        placeholder={placeholder}
        text={all.find(({ value }) => value === asked[name])?.text ?? asked[name]}
        choices={all}
        onChoose={({ value }) => search({ ...input, [name]: value })}
        onText={(text) => search({ ...input, [name]: text })}
      />
    )
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    search(input)
  }
  return (
    <form class="filters" role="search" aria-label="Events" onSubmit={submit}>
      {field('operation', 'Operation', 'keys.create')}
      {field('object_kind', 'Object kind', 'key, secret, …')}
      {named('object_id', 'Object', 'Name, hash or id')}
      {named('actor_id', 'By', 'Key or user')}
      <SelectField label="Outcome" value={input.outcome} options={OUTCOMES} onInput={set('outcome')} />
      <WorkspaceFilter workspaces={workspaces} value={input.workspace_id} onChoose={set('workspace_id')} />
      {instant('since', 'From')}
      {instant('until', 'Before')}
      <div class="actions">
        <button type="submit" class="primary">
          Search
        </button>
        <button type="button" onClick={() => search(NOTHING)}>
          Clear
        </button>
      </div>
    </form>
  )
}

/** What the fields hold: of instants the time on the wall, as a field of the browser has it. */
function fieldsOf(search: Search): Search {
  return { ...search, since: localOf(search.since), until: localOf(search.until) }
}

function soughtBy(fields: Search): Search {
  const texts = Object.fromEntries(NAMES.map((name) => [name, fields[name].trim()])) as Search
  return { ...texts, since: instantOf(texts.since), until: instantOf(texts.until) }
}

function localOf(instant: string): string {
  const at = Date.parse(instant)
  if (Number.isNaN(at)) return ''
  return new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, LOCAL_CHARS)
}

const MINUTE_MS = 60_000
const LOCAL_CHARS = 'yyyy-mm-ddThh:mm:ss'.length

function instantOf(local: string): string {
  const at = Date.parse(local)
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}
