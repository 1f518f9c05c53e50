import { h, type ComponentChild } from 'preact'
import { DataTable } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { OutcomeBadge, type AuditEvent } from '../parts/outcome-badge.tsx'
import { NONE } from '../parts/figures.tsx'
import type { AuditNames } from './audit/names.ts'

interface EventDialogProps {
  readonly event: AuditEvent
  readonly names: AuditNames
  onClose(): void
}

/** One event: who did it to what, and what can be seen of it before and after. */
export function EventDialog({ event, names, onClose }: EventDialogProps): ComponentChild {
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

/** Fields of both, those that are other first; what is no object is a field of its own. */
function changesOf(before: unknown, after: unknown): readonly Change[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const changes = [...new Set([...Object.keys(old), ...Object.keys(now)])].map((field): Change => {
    const [was, is] = [textOf(old[field]), textOf(now[field])]
    return { field, before: was, after: is, isOther: was !== is }
  })
  return [...changes.filter(({ isOther }) => isOther), ...changes.filter(({ isOther }) => !isOther)]
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {}
  return typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : { value }
}

function textOf(value: unknown): string {
  if (value === undefined) return NONE
  return typeof value === 'string' ? value : JSON.stringify(value)
}
