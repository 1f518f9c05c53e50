import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { AuditAnswer } from '../../../../schemas/audit/audit.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.ts'
import { NONE, Time } from '../parts/figures.ts'
import { useKeyNames } from '../parts/key-names.ts'
import { linkWith, Reload, rowsOf } from '../parts/lists.ts'
import { useLoaded } from '../parts/loaded.ts'
import { OutcomeBadge, type AuditEvent } from '../parts/outcome-badge.ts'
import { AuditSearch, searchOf } from './audit-search.ts'
import { EventDialog } from './event-dialog.ts'

export const auditPage: Page = {
  path: 'audit',
  title: 'Audit',
  letter: 'a',
  view: (context) => h(Audit, context),
}

/** Characters of an object's id in the list. */
const SHOWN_CHARS = 20

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
  return h(
    'div',
    null,
    h(AuditSearch, { context }),
    h(
      'section',
      { class: 'panel', 'aria-label': 'Events' },
      h(
        'div',
        { class: 'head' },
        h(
          'p',
          { class: 'hint' },
          'Each change and each release of what is secret is an event of one chain. A link searches for more of the same.',
        ),
        h(Reload, { loaded }),
      ),
      h(LoadedTable<AuditEvent>, {
        caption: 'Events, newest first',
        columns: columnsOf(query, nameOf),
        loaded: rowsOf(loaded),
        keyOf: ({ n }) => String(n),
        isMarked: ({ n }) => n === looked?.n,
        empty:
          value?.next_before === null || value === undefined
            ? 'No event is like that.'
            : 'None among those that were looked at; there may be older ones.',
      }),
      h(Steps, { before, next: value?.next_before ?? null, setQuery }),
    ),
    looked !== undefined &&
      h(EventDialog, { key: looked.n, event: looked, nameOf, onClose: () => setQuery({ event: null }) }),
  )
}

/** The log is read from its end: how much there is of it nobody has counted. */
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
  return h(
    'nav',
    { class: 'pager', 'aria-label': 'Pages' },
    h('button', { type: 'button', disabled: before === '', onClick: go(null) }, 'Newest'),
    h('button', { type: 'button', disabled: next === null, onClick: go(next) }, 'Older'),
  )
}

function columnsOf(query: URLSearchParams, nameOf: (hash: string) => string): readonly Column<AuditEvent>[] {
  const more = (name: string, value: string, text: string): ComponentChild =>
    h('a', { href: hashOf('audit', { [name]: value }), title: `More like this: ${value}` }, text)
  const named = (kind: string, id: string): string => (kind === 'key' ? nameOf(id) : short(id))
  return [
    {
      title: 'Event',
      isName: true,
      cell: ({ n }) =>
        h(
          'a',
          {
            href: linkWith('audit', query, { event: String(n) }),
            'aria-label': `Event #${n}, before and after`,
          },
          `#${n}`,
        ),
    },
    { title: 'When', cell: ({ at }) => h(Time, { at }) },
    { title: 'Operation', cell: ({ operation }) => more('operation', operation, operation) },
    {
      title: 'Outcome',
      cell: ({ outcome, count }) => [h(OutcomeBadge, { outcome }), count !== undefined && ` ×${count}`],
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
      cell: ({ request_id: id }) => (id === null ? NONE : h('code', { title: id }, short(id))),
    },
  ]
}

function short(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`
}
