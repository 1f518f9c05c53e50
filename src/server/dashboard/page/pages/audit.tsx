import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { AuditAnswer } from '../../../../schemas/audit/audit.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { NONE, Time } from '../parts/figures.tsx'
import { linkWith, Reload, rowsOf } from '../parts/lists.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { OutcomeBadge, type AuditEvent } from '../parts/outcome-badge.tsx'
import { useAuditNames, type AuditNames } from './audit/names.ts'
import { AuditSearch, searchOf } from './audit-search.tsx'
import { EventDialog } from './event-dialog.tsx'

export const auditPage: Page = {
  path: 'audit',
  title: 'Audit',
  letter: 'a',
  view: (context) => <Audit {...context} />,
}

/** Characters of a call's id in the list. */
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

/** Ids of calls begin alike: their ends tell them apart. */
function CallLink({ id }: { readonly id: string }): ComponentChild {
  return (
    <a class="mono" href={hashOf('requests', { request_id: id })} title={id}>
      {`…${id.slice(-CALL_CHARS)}`}
    </a>
  )
}
