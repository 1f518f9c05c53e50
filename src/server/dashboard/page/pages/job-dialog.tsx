import { type ComponentChild, type ComponentChildren, h } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
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
import { bytes, count, duration, NONE, share, Time, usd } from '../parts/figures.tsx'
import { useFocusedHeading } from '../parts/focus.ts'
import { useKeyNames } from '../parts/key-names.ts'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { ApiError, messageOf, type Api } from '../api.ts'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { isOpenJob, JobBadge } from '../parts/badge.tsx'

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
  /** Called when the job has changed. */
  onChange(): void
  onClose(): void
}

interface JobPart extends Pick<JobDialogProps, 'context' | 'onChange'> {
  readonly job: AdminJobDetailsShape
}

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
  return isOpenJob(job) || job.deliveries.some(({ state }) => state === 'waiting')
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
        ['Expires', isOpenJob(job) ? <Time at={job.expires_at} /> : null],
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

/** The steps in order, with the time since the previous step. */
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

type Clip = AdminJobDetailsShape['clips'][number]

/** Largest clip, in bytes, that the page loads into memory to show it. */
const PREVIEW_BYTES_MAX = 64 * 1024 * 1024
const CLIP_TYPE = 'video/mp4'

type Shown =
  | { readonly kind: 'none' }
  | { readonly kind: 'loading'; readonly part: number }
  | { readonly kind: 'shown'; readonly url: string }
  | { readonly kind: 'failed'; readonly problem: string }

/** A clip that is downloaded on request, and released when the job is closed. */
function ClipPreview({
  api,
  jobId,
  clip,
}: {
  readonly api: Api
  readonly jobId: string
  readonly clip: Clip
}): ComponentChild {
  const [shown, setShown] = useState<Shown>({ kind: 'none' })
  const left = useRef<AbortController | null>(null)
  useEffect(() => () => left.current?.abort(), [])
  const load = (): void => {
    const wanted = new AbortController()
    left.current = wanted
    setShown({ kind: 'loading', part: 0 })
    fetchClip(api, {
      jobId,
      clip,
      signal: wanted.signal,
      onPart: (part) => setShown({ kind: 'loading', part }),
    }).then(
      (blob) => {
        if (wanted.signal.aborted) return
        const url = URL.createObjectURL(blob)
        wanted.signal.addEventListener('abort', () => URL.revokeObjectURL(url))
        setShown({ kind: 'shown', url })
      },
      (problem: unknown) =>
        wanted.signal.aborted || setShown({ kind: 'failed', problem: messageOf(problem) }),
    )
  }
  return (
    <div class="stack">
      <div class="head">
        <p>
          {`Clip ${clip.index}, ${bytes(clip.bytes)}, created `}
          <Time at={clip.created_at} />
        </p>
        <LoadButton clip={clip} shown={shown} load={load} />
      </div>
      {shown.kind === 'failed' && (
        <p class="notice bad" role="alert">
          {shown.problem}
        </p>
      )}
      {shown.kind === 'shown' && (
        <video
          class="clip"
          controls
          playsInline
          src={shown.url}
          aria-label={`Clip ${clip.index} of job ${jobId}`}
          onError={() => setShown({ kind: 'failed', problem: 'The browser cannot play this clip.' })}
        />
      )}
    </div>
  )
}

function LoadButton({
  clip,
  shown,
  load,
}: {
  readonly clip: Clip
  readonly shown: Shown
  load(): void
}): ComponentChild {
  if (clip.bytes > PREVIEW_BYTES_MAX)
    return <p class="hint">{`The clip is too large to preview: the limit is ${bytes(PREVIEW_BYTES_MAX)}.`}</p>
  if (shown.kind === 'shown') return null
  if (shown.kind === 'loading')
    return (
      <p class="hint" role="status">
        {`Loading… ${share(shown.part)}`}
      </p>
    )
  return (
    <p>
      <span class="hint">{'Viewing is recorded in the audit log. '}</span>
      <button type="button" onClick={load}>
        Show clip
      </button>
    </p>
  )
}

interface ClipInput {
  readonly jobId: string
  readonly clip: Clip
  readonly signal: AbortSignal
  /** From 0 to 1. */
  onPart(part: number): void
}

/** Downloads a clip; fails when it is longer than the job stated. */
async function fetchClip(api: Api, { jobId, clip, signal, onPart }: ClipInput): Promise<Blob> {
  const response = await api.open(['admin', 'jobs', jobId, 'content'], { index: clip.index }, signal)
  const reader = response.body?.getReader()
  const parts: BlobPart[] = []
  let held = 0
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    held += read.value.byteLength
    if (held > Math.min(clip.bytes, PREVIEW_BYTES_MAX)) {
      await reader?.cancel()
      throw new ApiError('The clip is larger than announced.')
    }
    parts.push(read.value)
    onPart(held / clip.bytes)
  }
  return new Blob(parts, { type: CLIP_TYPE })
}
