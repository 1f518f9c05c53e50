import { h, type ComponentChild } from 'preact'
import { DataTable } from '../parts/data-table.ts'
import { Dialog } from '../parts/dialog.ts'
import { Facts } from '../parts/facts.ts'
import { OutcomeBadge, type AuditEvent } from '../parts/outcome-badge.ts'
import { changesOf, type Change } from './changes.ts'

interface EventDialogProps {
  readonly event: AuditEvent
  nameOf(hash: string): string
  onClose(): void
}

/** One event: who did it to what, and what can be seen of it before and after. */
export function EventDialog({ event, nameOf, onClose }: EventDialogProps): ComponentChild {
  const {
    n,
    at,
    actor,
    outcome,
    operation,
    object_kind: kind,
    object_id: id,
    workspace_id: workspace,
    request_id: call,
  } = event
  const { before, after, hash, count, since } = event
  return h(
    Dialog,
    { title: `Event ${n}: ${operation}`, isWide: true, onClose },
    h(
      'div',
      { class: 'body' },
      h(Facts, {
        facts: [
          ['When', `${new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}`],
          ['Instant', h('code', null, at)],
          ['Outcome', h(OutcomeBadge, { outcome })],
          [
            'Counted',
            count === undefined
              ? null
              : `${count} equal ones since ${new Date(since ?? at).toLocaleString()}`,
          ],
          [
            'By',
            [
              actor.kind,
              actor.kind === 'key' && actor.id !== null && ` ${nameOf(actor.id)}`,
              ' ',
              actor.id !== null && h('code', { key: 'id' }, actor.id),
            ],
          ],
          ['Object', [`${kind} `, h('code', { key: 'id' }, id)]],
          ['Workspace', workspace === null ? null : h('code', null, workspace)],
          ['Call', call === null ? null : h('code', null, call)],
          ['Hash in the chain', h('code', null, hash)],
        ],
      }),
      h('h3', null, 'Before and after'),
      h(DataTable<Change>, {
        caption: 'What was changed',
        columns: COLUMNS,
        rows: changesOf(before, after),
        keyOf: ({ field }) => field,
        isMarked: ({ isOther }) => isOther,
        empty: 'The event tells nothing of them.',
      }),
    ),
  )
}

const COLUMNS = [
  { title: 'Field', isName: true, cell: ({ field }: Change) => field },
  { title: 'Before', isText: true, cell: ({ before }: Change) => h('code', null, before) },
  {
    title: 'After',
    isText: true,
    cell: ({ after, isOther }: Change) => h('code', null, isOther ? h('b', null, after) : after),
  },
]
