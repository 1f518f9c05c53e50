import type { Registry } from 'prom-client'
import type { RetentionKind, RetentionMeters } from '../ports/operator/retention.ts'
import type { DeliveryCounts, WebhookMeters } from '../ports/webhooks/webhooks.ts'
import type { LiveReader } from './live-reader.ts'
import { countsOf, durationsOf, tallyOf } from './metric-table.ts'
import { watchMetrics } from './read-metrics.ts'
import { DELIVERIES, OLDEST_KEPT } from './read-table.ts'
import type { VideoMeters } from '../ports/videos/video-work.ts'

/** Outcomes without a proper answer from the provider. */
const UNANSWERED: ReadonlySet<string> = new Set(['unsent', 'unknown', 'unavailable'])
/** Label of a provider that the catalogue does not have: jobs may outlive a provider's entry. */
const OTHER = 'other'

export interface VideoMetersHome {
  readonly registry: Registry
  /** Receives the counts of requests to providers. */
  readonly live?: Pick<LiveReader, 'attempts'>
}

/** Metrics of a runner's video jobs. @param providers slugs of the catalogue; all others share one label */
export function createVideoMeters(
  { registry, live }: VideoMetersHome,
  providers: readonly string[],
): VideoMeters {
  const known = new Set(providers)
  const of = (provider: string): string => (known.has(provider) ? provider : OTHER)
  const claims = tallyOf(registry, 'sluice_video_claims_total')
  const submissions = tallyOf(registry, 'sluice_video_submissions_total')
  const lookups = tallyOf(registry, 'sluice_video_lookups_total')
  const polls = tallyOf(registry, 'sluice_video_polls_total')
  const stores = tallyOf(registry, 'sluice_video_stores_total')
  const ends = tallyOf(registry, 'sluice_video_ends_total')
  const lost = tallyOf(registry, 'sluice_video_leases_lost_total')
  const lag = durationsOf(registry, 'sluice_video_poll_lag_seconds')
  for (const tally of [submissions, polls]) live?.attempts(tally, ({ result = '' }) => UNANSWERED.has(result))
  return {
    claimed: (provider, count) => claims.add(count, of(provider)),
    submitted: (provider, result) => submissions.add(1, of(provider), result),
    looked: (provider, result) => lookups.add(1, of(provider), result),
    polled(provider, result, lagMs) {
      polls.add(1, of(provider), result)
      lag.observe(of(provider), lagMs / 1000)
    },
    stored: (provider, result) => stores.add(1, of(provider), result),
    ended: (provider, status) => ends.add(1, of(provider), status),
    lost: (count) => lost.add(count),
  }
}

/** Metrics of a runner's webhooks. @param read returns the last count; null before the first */
export function createWebhookMeters(registry: Registry, read: () => DeliveryCounts | null): WebhookMeters {
  const attempts = tallyOf(registry, 'sluice_webhook_attempts_total')
  watchMetrics(registry, DELIVERIES, read)
  return { attempt: (outcome) => attempts.add(1, outcome) }
}

/** Metrics of retention: rows that this runner removed, and the ages of the oldest rows. */
export function createRetentionMeters(registry: Registry, now: () => number): RetentionMeters {
  const oldest = new Map<RetentionKind, Date | null>()
  watchMetrics(registry, OLDEST_KEPT, () =>
    Array.from(
      oldest,
      ([kind, at]) => [kind, at === null ? 0 : Math.max(0, now() - at.getTime()) / 1_000] as const,
    ),
  )
  return {
    pruned: countsOf(registry, 'sluice_pruned_rows_total'),
    oldest: (kind, at) => void oldest.set(kind, at),
  }
}
