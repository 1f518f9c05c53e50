import { h, type ComponentChild } from 'preact'
import { DataTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { OutcomeBadge, type AuditEvent } from '../parts/outcome-badge.tsx'
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
  return (
    <Dialog title={`Event ${n}: ${operation}`} isWide onClose={onClose}>
      <div class="body">
        <Facts
          facts={[
            ['When', `${new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}`],
            ['Instant', <code>{at}</code>],
            ['Outcome', <OutcomeBadge outcome={outcome} />],
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
                actor.id !== null && <code key="id">{actor.id}</code>,
              ],
            ],
            ['Object', [`${kind} `, <code key="id">{id}</code>]],
            ['Workspace', workspace === null ? null : <code>{workspace}</code>],
            ['Call', call === null ? null : <code>{call}</code>],
            ['Hash in the chain', <code>{hash}</code>],
          ]}
        />
        <h3>Before and after</h3>
        <DataTable<Change>
          caption="What was changed"
          columns={COLUMNS}
          rows={changesOf(before, after)}
          keyOf={({ field }) => field}
          isMarked={({ isOther }) => isOther}
          empty="The event tells nothing of them."
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
