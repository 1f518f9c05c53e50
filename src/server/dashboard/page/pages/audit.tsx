import { type ComponentChild, h } from 'preact'
import type { Static } from 'typebox'
import { useEffect, useState } from 'preact/hooks'
import type { AuditAnswer, ListAuditQuery } from '../../../../schemas/audit/audit.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { LoadedTable, type Column, DataTable } from '../parts/data-table.tsx'
import { NONE, Time } from '../parts/figures.tsx'
import { linkWith, Reload, rowsOf } from '../parts/lists.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { ComboField } from '../parts/combo-field.tsx'
import { SelectField, TextField } from '../parts/fields.tsx'
import { WorkspaceFilter } from '../parts/filters.tsx'
import { type AuditNames, useAuditNames } from './audit/names.ts'
import { OutcomeBadge, type AuditEvent } from '../parts/badge.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'

export const auditPage: Page = {
  path: 'audit',
  title: 'Audit',
  letter: 'a',
  view: (context) => <Audit {...context} />,
}

const CALL_CHARS = 8

/** Changes, releases of secrets and refusals, newest first. */
function Audit(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const names = useAuditNames(context)
  const search = searchOf(query)
  const before = query.get('before') ?? ''
  const loaded = useLoaded(
    (signal) => api.get<Static<typeof AuditAnswer>>(['audit'], { ...search, before }, signal),
    [api, JSON.stringify(search), before],
  )
  const { value } = loaded
  const looked = value?.data.find(({ n }) => String(n) === query.get('event'))
  return (
    <div>
      <AuditSearch context={context} names={names} />
      <section class="panel" aria-label="Events">
        <div class="head">
          <p class="hint">
            The audit log holds every change and every release of a secret in one hash chain. Click a value to
            filter by it.
          </p>
          <Reload loaded={loaded} />
        </div>
        <LoadedTable<AuditEvent>
          caption="Events, newest first"
          columns={columnsOf(query, names)}
          isFixed
          loaded={rowsOf(loaded)}
          keyOf={({ n }) => String(n)}
          isMarked={({ n }) => n === looked?.n}
          empty={
            value?.next_before === null || value === undefined
              ? 'No events match.'
              : 'No matches among the newest events; older events may match.'
          }
        />
        <Steps before={before} next={value?.next_before ?? null} setQuery={setQuery} />
      </section>
      {looked !== undefined && (
        <EventDialog key={looked.n} event={looked} names={names} onClose={() => setQuery({ event: null })} />
      )}
    </div>
  )
}

/** Steps through the log from its end; the length of the log is not counted. */
function Steps({
  before,
  next,
  setQuery,
}: Pick<PageContext, 'setQuery'> & {
  readonly before: string
  readonly next: number | null
}): ComponentChild {
  if (before === '' && next === null) return null
  const go = (to: number | null) => (): void => {
    setQuery({ before: to === null ? null : String(to), event: null })
    window.scrollTo(0, 0)
  }
  return (
    <nav class="pager" aria-label="Pagination">
      <button type="button" disabled={before === ''} onClick={go(null)}>
        Newest
      </button>
      <button type="button" disabled={next === null} onClick={go(next)}>
        Older
      </button>
    </nav>
  )
}

function columnsOf(query: URLSearchParams, names: AuditNames): readonly Column<AuditEvent>[] {
  const more = (name: string, value: string, text: string): ComponentChild => (
    <a href={hashOf('audit', { [name]: value })} title={value}>
      {text}
    </a>
  )
  return [
    {
      title: 'Event',
      kind: 'event',
      isName: true,
      cell: ({ n }) => (
        <a href={linkWith('audit', query, { event: String(n) })} aria-label={`Event #${n}: details`}>
          {`#${n}`}
        </a>
      ),
    },
    { title: 'When', kind: 'when', cell: ({ at }) => <Time at={at} /> },
    { title: 'Operation', cell: ({ operation }) => more('operation', operation, operation) },
    {
      title: 'Outcome',
      kind: 'outcome',
      cell: (event) => [
        <OutcomeBadge key="outcome" event={event} />,
        event.count !== undefined && ` ×${event.count}`,
      ],
    },
    {
      title: 'By',
      cell: (event) =>
        event.actor.id === null ? event.actor.kind : more('actor_id', event.actor.id, names.actor(event)),
    },
    {
      title: 'Object',
      cell: (event) => [`${event.object_kind} `, more('object_id', event.object_id, names.object(event))],
    },
    {
      title: 'Call',
      kind: 'call',
      cell: ({ request_id: id }) => (id === null ? NONE : <CallLink id={id} />),
    },
  ]
}

/** Call ids share a prefix, so their ends are shown. */
function CallLink({ id }: { readonly id: string }): ComponentChild {
  return (
    <a class="mono" href={hashOf('requests', { request_id: id })} title={id}>
      {`…${id.slice(-CALL_CHARS)}`}
    </a>
  )
}

type Name = Exclude<keyof ListAuditQuery, 'before' | 'limit'>
type Search = Readonly<Record<Name, string>>

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

/** The search in the address; instants are in ISO 8601. */
function searchOf(query: URLSearchParams): Search {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ''])) as Search
}

/** The search form, which searches only when submitted: values are matched as a whole, so that a half-typed word would find nothing. */
function AuditSearch({
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

/** The values of the fields; instants become local times, as the browser's fields need them. */
function fieldsOf(search: Search): Search {
  return { ...search, since: localOf(search.since), until: localOf(search.until) }
}

function soughtBy(fields: Search): Search {
  const texts = Object.fromEntries(NAMES.map((name) => [name, fields[name].trim()])) as Search
  return { ...texts, since: instantOf(texts.since), until: instantOf(texts.until) }
}

const MINUTE_MS = 60_000
const LOCAL_CHARS = 'yyyy-mm-ddThh:mm:ss'.length

function localOf(instant: string): string {
  const at = Date.parse(instant)
  if (Number.isNaN(at)) return ''
  return new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, LOCAL_CHARS)
}

function instantOf(local: string): string {
  const at = Date.parse(local)
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}

interface EventDialogProps {
  readonly event: AuditEvent
  readonly names: AuditNames
  onClose(): void
}

/** One event: who changed which object, and the object's visible state before and after. */
function EventDialog({ event, names, onClose }: EventDialogProps): ComponentChild {
  const {
    n,
    at,
    actor,
    operation,
    object_kind: kind,
    object_id: id,
    workspace_id: workspace,
    request_id: call,
  } = event
  const { before, after, hash, count, since } = event
  return (
    <Dialog title={`Event ${n}: ${operation}`} isWide onClose={onClose}>
      <div class="body">
        <Facts
          facts={[
            ['When', `${new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}`],
            ['Instant', <code>{at}</code>],
            ['Outcome', <OutcomeBadge event={event} />],
            [
              'Counted',
              count === undefined
                ? null
                : `${count} more events of this kind since ${new Date(since ?? at).toLocaleString()}`,
            ],
            [
              'By',
              [
                actor.kind,
                actor.kind === 'key' && ` ${names.actor(event)}`,
                ' ',
                actor.id !== null && <code key="id">{actor.id}</code>,
              ],
            ],
            ['Object', [`${kind} ${names.object(event)} `, <code key="id">{id}</code>]],
            [
              'Workspace',
              workspace === null
                ? null
                : [`${names.workspace(workspace)} `, <code key="id">{workspace}</code>],
            ],
            ['Call', call === null ? null : <code>{call}</code>],
            ['Chain hash', <code>{hash}</code>],
          ]}
        />
        <h3>Before and after</h3>
        <DataTable<Change>
          caption="Changes"
          columns={COLUMNS}
          rows={changesOf(before, after)}
          keyOf={({ field }) => field}
          isMarked={({ isOther }) => isOther}
          empty="No details recorded."
        />
      </div>
    </Dialog>
  )
}

const COLUMNS = [
  { title: 'Field', isName: true, cell: ({ field }: Change) => field },
  { title: 'Before', isText: true, cell: ({ before }: Change) => <code>{before}</code> },
  {
    title: 'After',
    isText: true,
    cell: ({ after, isOther }: Change) => <code>{isOther ? <b>{after}</b> : after}</code>,
  },
]

/** A field of an object before and after, as text. */
interface Change {
  readonly field: string
  readonly before: string
  readonly after: string
  readonly isOther: boolean
}

/** Fields of both states, changed ones first; a value that is not an object counts as one field. */
function changesOf(before: unknown, after: unknown): readonly Change[] {
  const [old, now] = [shownFields(before), shownFields(after)]
  const changes = [...new Set([...Object.keys(old), ...Object.keys(now)])].map((field): Change => {
    const [was, is] = [textOf(old[field]), textOf(now[field])]
    return { field, before: was, after: is, isOther: was !== is }
  })
  return [...changes.filter(({ isOther }) => isOther), ...changes.filter(({ isOther }) => !isOther)]
}

function shownFields(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {}
  return typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : { value }
}

function textOf(value: unknown): string {
  if (value === undefined) return NONE
  return typeof value === 'string' ? value : JSON.stringify(value)
}
