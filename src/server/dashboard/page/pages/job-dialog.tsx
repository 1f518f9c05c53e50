import { h, type ComponentChild, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type {
  AdminDeliveryShape,
  AdminJobDetailsShape,
  AdminJobStep,
} from '../../../../schemas/operator/admin.ts'
import { hashOf, type PageContext } from '../page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { deliveryColumns, useReplay } from '../parts/deliveries.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { count, duration, NONE, Time, usd } from '../parts/figures.tsx'
import { useFocusedHeading } from '../parts/focus.ts'
import { isOpen, JobBadge } from '../parts/job-state.tsx'
import { useKeyNames } from '../parts/key-names.ts'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { ClipPreview } from './clip-preview.tsx'
import { DeliveryDialog } from './delivery-dialog.tsx'

const STEPS: Readonly<Record<AdminJobStep, string>> = {
  accepted: 'Accepted',
  submitted: 'Submitted to the provider',
  running: 'Running at the provider',
  storing: 'Storing the result',
  ended: 'Ended',
}

interface JobDialogProps {
  readonly context: PageContext
  readonly id: string
  /** Something of the job is other now. */
  onChange(): void
  onClose(): void
}

interface JobPart extends Pick<JobDialogProps, 'context' | 'onChange'> {
  readonly job: AdminJobDetailsShape
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
  return (
    <Dialog title={`Job ${id}`} isWide onClose={onClose}>
      <div class="body">
        <Awaited {...loaded} />
        {job !== undefined && <Details context={context} job={job} onChange={changed} />}
      </div>
    </Dialog>
  )
}

function isMoving(job: AdminJobDetailsShape): boolean {
  return isOpen(job) || job.deliveries.some(({ state }) => state === 'waiting')
}

function Details({ context, job, onChange }: JobPart): ComponentChild {
  const { error, clips } = job
  return (
    <div class="stack">
      {error !== null && (
        <p class="notice bad">
          <span>
            <code>{error.code}</code>
            {` ${error.message}`}
          </span>
        </p>
      )}
      <JobFacts context={context} job={job} />
      <section class="stack">
        <h3>Steps</h3>
        <Timeline job={job} />
      </section>
      <section class="stack">
        <h3>Clips</h3>
        {clips.length === 0 ? (
          <p class="hint">{job.clips_made === 0 ? 'No clips.' : 'The clips have been deleted.'}</p>
        ) : (
          clips.map((clip) => <ClipPreview key={clip.index} api={context.api} jobId={job.id} clip={clip} />)
        )}
      </section>
      <Deliveries context={context} job={job} onChange={onChange} />
    </div>
  )
}

function JobFacts({
  context,
  job,
}: {
  readonly context: PageContext
  readonly job: AdminJobDetailsShape
}): ComponentChild {
  const { nameOf } = useKeyNames(context)
  const { lease, status } = job
  return (
    <Facts
      facts={[
        ['State', <JobBadge status={status} />],
        ['Workspace', job.workspace_slug],
        ['Requested by', [nameOf(job.key_hash), ' in call ', <code key="call">{job.request_id}</code>]],
        ['Model', `${job.model}, ${count(job.seconds)} s`],
        [
          'Provider',
          `${job.provider}: ${job.upstream_model}${job.is_byok ? ', by the workspace’s own key' : ''}`,
        ],
        ['Endpoint', job.endpoint],
        ['Provider’s id', job.upstream_id === null ? 'unknown' : <code>{job.upstream_id}</code>],
        ['Attempts', `${times(job.submissions)} submitted, ${times(job.polls)} polled`],
        ['Cost', costOf(job)],
        ['Generation', job.generation_id === null ? null : <code>{job.generation_id}</code>],
        ['Claimed', claimOf(lease)],
        ['Expires', isOpen(job) ? <Time at={job.expires_at} /> : null],
        ['Clips expire', job.clips_expire_at === null ? null : <Time at={job.clips_expire_at} />],
        ['Audit', <a href={hashOf('audit', { object_id: job.id })}>Change history</a>],
      ]}
    />
  )
}

function claimOf(lease: AdminJobDetailsShape['lease']): ComponentChildren {
  if (lease === null) return null
  return lease.until === null
    ? times(lease.attempt)
    : [`${times(lease.attempt)}; due `, <Time key="until" at={lease.until} />]
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
  return (
    <ol class="steps">
      {steps.map(({ step, at }, nth) => {
        const before = steps[nth - 1]?.at
        return (
          <li key={step}>
            <span>{STEPS[step]}</span>{' '}
            <span class="hint">
              <Time at={at} />
              {before !== undefined && `, ${duration(Date.parse(at) - Date.parse(before))} later`}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

function Deliveries({ context, job, onChange }: JobPart): ComponentChild {
  const heading = useFocusedHeading()
  const replay = useReplay(context, () => (onChange(), heading.focus()))
  const [looked, setLooked] = useState<AdminDeliveryShape | null>(null)
  const { callback_host: host, deliveries } = job
  const empty =
    host === null ? 'The job has no callback URL.' : `A webhook is sent to ${host} when the job ends.`
  return (
    <section class="stack">
      <h3 ref={heading.ref} tabIndex={-1}>
        Webhooks
      </h3>
      <DataTable<AdminDeliveryShape>
        caption="Webhooks of the job"
        columns={deliveryColumns(setLooked, true)}
        rows={deliveries}
        keyOf={({ id }) => id}
        empty={empty}
      />
      {looked !== null && (
        <DeliveryDialog delivery={looked} replay={replay.start} onClose={() => setLooked(null)} />
      )}
      {replay.dialog}
    </section>
  )
}
