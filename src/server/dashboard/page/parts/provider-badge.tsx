import { h, type ComponentChild } from 'preact'
import type { ProviderView } from '../../../../schemas/operator/live-view.ts'
import { Badge, type Tone } from './badge.tsx'
import { Time } from './figures.tsx'

const TONES: Readonly<Record<ProviderView['state'], Tone>> = {
  ok: 'good',
  failing: 'bad',
  open: 'bad',
  idle: 'plain',
}

export interface ProviderBadgeProps {
  /** Undefined: the node has not asked the provider since it started. */
  readonly state: ProviderView['state'] | undefined
  readonly breaker?: ProviderView['breaker']
}

/** How a provider did lately; with an open circuit breaker since when, and when a call may probe it next. */
export function ProviderBadge({ state, breaker = null }: ProviderBadgeProps): ComponentChild {
  if (state === undefined) return <span class="hint">no calls yet</span>
  const badge = <Badge text={state} tone={TONES[state]} />
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
