import { Gauge, Histogram, type Registry } from 'prom-client'
import { HELD_VIDEO_STATES, type HeldVideoState, type VideoMeters } from '../ports/videos/video-engine.ts'
import type { LiveReader } from './live-reader.ts'
import { Tally } from './durations.ts'

/** Seconds by which a poll may be late. */
const LAG_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300]
/** Counters of requests to a provider. */
const ATTEMPTS: ReadonlySet<string> = new Set(['sluice_video_submissions_total', 'sluice_video_polls_total'])
/** Outcomes in which the provider did not answer as it should. */
const UNANSWERED: ReadonlySet<string> = new Set(['unsent', 'unknown', 'unavailable'])
/** Label of a provider that the catalogue does not have: jobs may outlive a provider's entry. */
const OTHER = 'other'

export interface VideoMetersHome {
  readonly registry: Registry
  /** Receives the counts of requests to providers. */
  readonly live?: Pick<LiveReader, 'attempts'>
}

/**
 * Metrics of a runner's video jobs. Design §11. @param providers slugs of the catalogue; all others share one
 * label
 */
export function createVideoMeters(
  { registry, live }: VideoMetersHome,
  providers: readonly string[],
): VideoMeters {
  const known = new Set(providers)
  const of = (provider: string): string => (known.has(provider) ? provider : OTHER)
  const tally = (name: string, help: string, label: string) => {
    const counts = new Tally(registry, name, help, ['provider', label])
    if (ATTEMPTS.has(name)) live?.attempts(counts, (labels) => UNANSWERED.has(labels[label] ?? ''))
    return (provider: string, value: string): void => counts.add(1, of(provider), value)
  }
  const claims = new Tally(
    registry,
    'sluice_video_claims_total',
    'Video jobs taken by runners (processes for video jobs), by provider.',
    ['provider'],
  )
  const lost = new Tally(
    registry,
    'sluice_video_leases_lost_total',
    'Video jobs whose runner (process for video jobs) lost the lease of the job while working on it.',
    [],
  )
  const lag = new Histogram({
    name: 'sluice_video_poll_lag_seconds',
    help: 'Seconds by which polls of video jobs were late, by provider.',
    labelNames: ['provider'],
    buckets: LAG_BUCKETS,
    registers: [registry],
  })
  const polled = tally(
    'sluice_video_polls_total',
    'Polls of video jobs at providers, by provider and result.',
    'result',
  )
  return {
    claimed: (provider, count) => claims.add(count, of(provider)),
    submitted: tally(
      'sluice_video_submissions_total',
      'Video jobs submitted to providers, by provider and result.',
      'result',
    ),
    looked: tally(
      'sluice_video_lookups_total',
      'Lookups of video jobs whose submission was uncertain, by provider and result.',
      'result',
    ),
    polled(provider, result, lagMs) {
      polled(provider, result)
      lag.observe({ provider: of(provider) }, lagMs / 1000)
    },
    stored: tally(
      'sluice_video_stores_total',
      'Finished videos fetched from providers, by provider and result.',
      'result',
    ),
    ended: tally(
      'sluice_video_ends_total',
      'Number of video jobs that ended, by provider and final status.',
      'status',
    ),
    lost: (count) => lost.add(count),
  }
}

/** Gauge of the jobs that a runner holds, read on demand. */
export function watchHeldVideos(
  registry: Registry,
  read: () => Readonly<Record<HeldVideoState, number>>,
): void {
  new Gauge({
    name: 'sluice_video_jobs_held',
    help: 'Open video jobs assigned to runners (processes for video jobs), by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const held = read()
      for (const state of HELD_VIDEO_STATES) this.set({ state }, held[state])
    },
  })
}
