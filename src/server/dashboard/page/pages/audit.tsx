import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { AuditAnswer } from '../../../../schemas/audit/audit.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { NONE, Time } from '../parts/figures.tsx'
import { useKeyNames } from '../parts/key-names.ts'
import { linkWith, Reload, rowsOf } from '../parts/lists.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { OutcomeBadge, type AuditEvent } from '../parts/outcome-badge.tsx'
import { AuditSearch, searchOf } from './audit-search.tsx'
import { EventDialog } from './event-dialog.tsx'

export const auditPage: Page = {
  path: 'audit',
  title: 'Audit',
  letter: 'a',
  view: (context) => <Audit {...context} />,
}

/** Characters of an object's id in the list. */
const SHOWN_CHARS = 20
/** Characters of a call's id there. */
const CALL_CHARS = 8

/** Who changed, was given or was refused what, newest first. */
function Audit(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const nameOf = useKeyNames(context)
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
      <AuditSearch context={context} />
      <section class="panel" aria-label="Events">
        <div class="head">
          <p class="hint">
            Each change and each release of what is secret is an event of one chain. A link searches for more
            of the same.
          </p>
          <Reload loaded={loaded} />
        </div>
        <LoadedTable<AuditEvent>
          caption="Events, newest first"
          columns={columnsOf(query, nameOf)}
          loaded={rowsOf(loaded)}
          keyOf={({ n }) => String(n)}
          isMarked={({ n }) => n === looked?.n}
          empty={
            value?.next_before === null || value === undefined
              ? 'No event is like that.'
              : 'None among those that were looked at; there may be older ones.'
          }
        />
        <Steps before={before} next={value?.next_before ?? null} setQuery={setQuery} />
      </section>
      {looked !== undefined && (
        <EventDialog
          key={looked.n}
          event={looked}
          nameOf={nameOf}
          onClose={() => setQuery({ event: null })}
        />
      )}
    </div>
  )
}

/** The log is read from its end: its length is not counted. */
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
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={before === ''} onClick={go(null)}>
        Newest
      </button>
      <button type="button" disabled={next === null} onClick={go(next)}>
        Older
      </button>
    </nav>
  )
}

function columnsOf(query: URLSearchParams, nameOf: (hash: string) => string): readonly Column<AuditEvent>[] {
  const more = (name: string, value: string, text: string): ComponentChild => (
    <a href={hashOf('audit', { [name]: value })} title={`More like this: ${value}`}>
      {text}
    </a>
  )
  const named = (kind: string, id: string): string => (kind === 'key' ? nameOf(id) : short(id))
  return [
    {
      title: 'Event',
      isName: true,
      cell: ({ n }) => (
        <a href={linkWith('audit', query, { event: String(n) })} aria-label={`Event #${n}, before and after`}>
          {`#${n}`}
        </a>
      ),
    },
    { title: 'When', cell: ({ at }) => <Time at={at} /> },
    { title: 'Operation', cell: ({ operation }) => more('operation', operation, operation) },
    {
      title: 'Outcome',
      cell: ({ outcome, count }) => [<OutcomeBadge outcome={outcome} />, count !== undefined && ` ×${count}`],
    },
    {
      title: 'By',
      cell: ({ actor: { kind, id } }) =>
        id === null ? kind : [kind === 'key' ? '' : `${kind} `, more('actor_id', id, named(kind, id))],
    },
    {
      title: 'Object',
      cell: ({ object_kind: kind, object_id: id }) => [`${kind} `, more('object_id', id, named(kind, id))],
    },
    {
      title: 'Call',
      cell: ({ request_id: id }) => (id === null ? NONE : <CallLink id={id} />),
    },
  ]
}

/** Ids of calls begin alike: their ends tell them apart. */
function CallLink({ id }: { readonly id: string }): ComponentChild {
  return (
    <a class="mono" href={hashOf('requests', { request_id: id })} title={id}>
      {`…${id.slice(-CALL_CHARS)}`}
    </a>
  )
}

function short(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`
}
