import { h, type ComponentChild, type ComponentChildren } from 'preact'
import type {
  AdminDeliveryShape,
  AdminJobDetailsShape,
  AdminJobStep,
} from '../../../../schemas/operator/admin.ts'
import { hashOf, type PageContext } from '../page.ts'
import { DataTable } from '../parts/data-table.ts'
import { deliveryColumns, useReplay } from '../parts/deliveries.ts'
import { Dialog } from '../parts/dialog.ts'
import { Facts } from '../parts/facts.ts'
import { count, duration, NONE, Time, usd } from '../parts/figures.ts'
import { useFocusedHeading } from '../parts/focus.ts'
import { isOpen, JobBadge } from '../parts/job-state.ts'
import { useKeyNames } from '../parts/key-names.ts'
import { Awaited, useLoaded } from '../parts/loaded.ts'
import { useRefresh } from '../parts/refresh.ts'
import { ClipPreview } from './clip-preview.ts'

const STEPS: Readonly<Record<AdminJobStep, string>> = {
  accepted: 'Accepted',
  submitted: 'Brought to the provider',
  running: 'Taken by the provider',
  storing: 'Made, being stored',
  ended: 'Ended',
}

interface JobDialogProps {
  readonly context: PageContext
  readonly id: string
  /** Something of the job is other now. */
  onChange(): void
  onClose(): void
}

/** All that is known of a job. */
export function JobDialog({ context, id, onChange, onClose }: JobDialogProps): ComponentChild {
  const { api } = context
  const loaded = useLoaded(
    async (signal) => (await api.get<{ data: AdminJobDetailsShape }>(['admin', 'jobs', id], {}, signal)).data,
    [api, id],
  )
  const job = loaded.value
  useRefresh(job !== undefined && isMoving(job), loaded)
  const changed = (): void => (loaded.reload(), onChange())
  return h(
    Dialog,
    { title: `Job ${id}`, isWide: true, onClose },
    h(
      'div',
      { class: 'body' },
      h(Awaited, loaded),
      job !== undefined && h(Details, { context, job, onChange: changed }),
    ),
  )
}

function isMoving(job: AdminJobDetailsShape): boolean {
  return isOpen(job) || job.deliveries.some(({ state }) => state === 'waiting')
}

function Details({
  context,
  job,
  onChange,
}: {
  readonly context: PageContext
  readonly job: AdminJobDetailsShape
  onChange(): void
}): ComponentChild {
  const { error, clips } = job
  return h(
    'div',
    { class: 'stack' },
    error !== null &&
      h('p', { class: 'notice bad' }, h('span', null, h('code', null, error.code), ` ${error.message}`)),
    h(JobFacts, { context, job }),
    h('section', { class: 'stack' }, h('h3', null, 'What happened'), h(Timeline, { job })),
    h(
      'section',
      { class: 'stack' },
      h('h3', null, 'Clips'),
      clips.length === 0
        ? h('p', { class: 'hint' }, job.clips_made === 0 ? 'None was made.' : 'They are no longer kept.')
        : clips.map((clip) => h(ClipPreview, { key: clip.index, api: context.api, jobId: job.id, clip })),
    ),
    h(Deliveries, { context, job, onChange }),
  )
}

function JobFacts({
  context,
  job,
}: {
  readonly context: PageContext
  readonly job: AdminJobDetailsShape
}): ComponentChild {
  const nameOf = useKeyNames(context)
  const { lease, status } = job
  return h(Facts, {
    facts: [
      ['State', h(JobBadge, { status })],
      ['Workspace', job.workspace_slug],
      ['Asked for by', [nameOf(job.key_hash), ' in call ', h('code', { key: 'call' }, job.request_id)]],
      ['Model', `${job.model}, ${count(job.seconds)} s`],
      [
        'Provider',
        `${job.provider}: ${job.upstream_model}${job.is_byok ? ', by the workspace’s own key' : ''}`,
      ],
      ['Endpoint', job.endpoint],
      ['Provider’s id', job.upstream_id === null ? 'not known' : h('code', null, job.upstream_id)],
      ['Attempts', `${times(job.submissions)} submitted, ${times(job.polls)} polled`],
      ['Cost', costOf(job)],
      ['Generation', job.generation_id === null ? null : h('code', null, job.generation_id)],
      ['Claimed', claimOf(lease)],
      ['Given up', isOpen(job) ? h(Time, { at: job.expires_at }) : null],
      ['Clips removed', job.clips_expire_at === null ? null : h(Time, { at: job.clips_expire_at })],
      ['Audit', h('a', { href: hashOf('audit', { object_id: job.id }) }, 'What was done with it')],
    ],
  })
}

function claimOf(lease: AdminJobDetailsShape['lease']): ComponentChildren {
  if (lease === null) return null
  return lease.until === null
    ? times(lease.attempt)
    : [`${times(lease.attempt)}; due `, h(Time, { key: 'until', at: lease.until })]
}

function costOf({ cost_usd: cost, held_usd: held }: AdminJobDetailsShape): string {
  if (cost !== null) return usd(cost)
  return held === null ? NONE : `${usd(held)} held`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

/** The steps in their order, and how long each was after the one before. */
function Timeline({ job: { steps } }: { readonly job: AdminJobDetailsShape }): ComponentChild {
  return h(
    'ol',
    { class: 'steps' },
    steps.map(({ step, at }, nth) => {
      const before = steps[nth - 1]?.at
      return h(
        'li',
        { key: step },
        h('span', null, STEPS[step]),
        ' ',
        h(
          'span',
          { class: 'hint' },
          h(Time, { at }),
          before !== undefined && `, ${duration(Date.parse(at) - Date.parse(before))} later`,
        ),
      )
    }),
  )
}

function Deliveries({
  context,
  job,
  onChange,
}: {
  readonly context: PageContext
  readonly job: AdminJobDetailsShape
  onChange(): void
}): ComponentChild {
  const heading = useFocusedHeading()
  const replay = useReplay(context, () => (onChange(), heading.focus()))
  const { callback_host: host, deliveries } = job
  const empty = host === null ? 'Nobody is told of its end.' : `${host} is told when it ends.`
  return h(
    'section',
    { class: 'stack' },
    h('h3', { ref: heading.ref, tabIndex: -1 }, 'Webhooks'),
    h(DataTable<AdminDeliveryShape>, {
      caption: 'Webhooks of the job',
      columns: deliveryColumns(replay.start, true),
      rows: deliveries,
      keyOf: ({ id }) => id,
      empty,
    }),
    replay.dialog,
  )
}
