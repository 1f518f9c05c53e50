import type { Static } from 'typebox'
import { h, type ComponentChild } from 'preact'
import type { EndpointStatus } from '../../../../schemas/endpoints/private-endpoints.ts'
import type { AuditEventShape } from '../../../../schemas/audit/audit.ts'
import type { ProviderView } from '../../../../schemas/operator/live-view.ts'
import { Time } from './figures.tsx'
import type { VideoStatus } from '../../../../schemas/videos/video-jobs.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** A state in one word. Its color repeats the meaning of the word. */
export function Badge({
  text,
  tone = 'plain',
  title,
}: {
  readonly text: string
  readonly tone?: Tone
  readonly title?: string
}): ComponentChild {
  return (
    <span class={`badge ${tone}`} title={title}>
      {text}
    </span>
  )
}

export interface MeterProps {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly text: string
  /** True for a share of a total, which is never too high. */
  readonly isShare?: boolean
}

/** How full something is. Above the maximum the bar stays full, and the text shows the excess. */
export function Meter({ label, value, max, text, isShare = false }: MeterProps): ComponentChild {
  const part = max <= 0 ? 1 : Math.min(1, Math.max(0, value / max))
  const tone = isShare ? 'good' : part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'good'
  const aria = {
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuenow': Math.round(part * 100),
    'aria-valuetext': text,
  } as const
  return (
    <div class={`meter ${tone}`}>
      <div class="track" {...aria}>
        <div class="fill" style={{ width: `${part * 100}%` }} />
      </div>
      <span class="hint">{text}</span>
    </div>
  )
}

const ENDPOINT_TONES: Readonly<Record<EndpointStatus, Tone>> = {
  draft: 'plain',
  active: 'good',
  disabled: 'warn',
}

export function EndpointBadge({ status }: { readonly status: EndpointStatus }): ComponentChild {
  return <Badge text={status} tone={ENDPOINT_TONES[status]} />
}

export type AuditEvent = Static<typeof AuditEventShape>

type Deed = AuditEvent['outcome'] | 'created' | 'deleted'

const DEED_TONES: Readonly<Record<Deed, Tone>> = {
  created: 'good',
  changed: 'plain',
  deleted: 'warn',
  released: 'plain',
  refused: 'bad',
}

/** What an event did to its object: created it, deleted it or changed it. */
export function deedOf({ outcome, before, after }: Pick<AuditEvent, 'outcome' | 'before' | 'after'>): Deed {
  if (outcome !== 'changed' || (before === null && after === null)) return outcome
  return before === null ? 'created' : after === null ? 'deleted' : 'changed'
}

export function OutcomeBadge({ event }: { readonly event: AuditEvent }): ComponentChild {
  const deed = deedOf(event)
  return <Badge text={deed} tone={DEED_TONES[deed]} />
}

const PROVIDER_TONES: Readonly<Record<ProviderView['state'], Tone>> = {
  ok: 'good',
  failing: 'bad',
  open: 'bad',
  idle: 'plain',
}

interface ProviderBadgeProps {
  /** Undefined: the node has not asked the provider since it started. */
  readonly state: ProviderView['state'] | undefined
  readonly breaker?: ProviderView['breaker']
}

/** The recent state of a provider; with an open circuit breaker also the time of its opening and of the next probe. */
export function ProviderBadge({ state, breaker = null }: ProviderBadgeProps): ComponentChild {
  if (state === undefined) return <span class="hint">no calls yet</span>
  const badge = <Badge text={state} tone={PROVIDER_TONES[state]} />
  if (breaker === null) return badge
  const { endpoints, since, next_probe_at: probeAt } = breaker
  const next =
    probeAt === null ? ', the next call tests it' : [', next test ', <Time key="probe" at={probeAt} />]
  return (
    <span title={`Open circuit breakers: ${endpoints.join(', ')}`}>
      {badge}
      <span class="hint">
        {' since '}
        <Time at={since} />
        {next}
      </span>
    </span>
  )
}

const JOB_TONES: Readonly<Record<VideoStatus, Tone>> = {
  pending: 'plain',
  in_progress: 'plain',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
  expired: 'bad',
}
const OPEN_JOBS: readonly VideoStatus[] = ['pending', 'in_progress']

/** For a select: every state and its word. */
export const JOB_STATES: readonly (readonly [VideoStatus, string])[] = (
  Object.keys(JOB_TONES) as VideoStatus[]
).map((status) => [status, wordOf(status)])

export function isOpenJob({ status }: { readonly status: VideoStatus }): boolean {
  return OPEN_JOBS.includes(status)
}

export function JobBadge({ status }: { readonly status: VideoStatus }): ComponentChild {
  return <Badge text={wordOf(status)} tone={JOB_TONES[status]} />
}

function wordOf(status: VideoStatus): string {
  return status.replace('_', ' ')
}
