import { Gauge, type Registry } from 'prom-client'
import type { FailureName } from '../../schemas/failures.ts'
import type { StreamMeters } from '../ports/observe.ts'
import { Durations } from './durations.ts'
import { Tally } from './tally.ts'

/** Seconds: from a model in memory to one that thinks as long as a provider may. */
const FIRST_OUTPUT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Metrics of streamed answers, by provider of the catalogue. D36. */
export function createStreamMeters(registry: Registry): StreamMeters {
  const tally = (name: string, help: string, ...labels: readonly string[]): Tally =>
    new Tally(registry, name, help, ['provider', ...labels])
  const commits = tally('sluice_stream_commits_total', 'Streamed answers whose first output has left.')
  const fallbacks = tally(
    'sluice_stream_fallbacks_total',
    'Endpoints that failed before the first output, by the provider that answered after them.',
  )
  const cuts = tally(
    'sluice_streams_cut_total',
    'Streams that ended before the answer did, by what ended them.',
    'cause',
  )
  const estimated = tally(
    'sluice_estimated_usage_total',
    'Streams whose provider told no credible token counts.',
  )
  const first = new Durations(registry, {
    name: 'sluice_stream_first_output_seconds',
    help: 'Time from the first attempt of a call to the first output of its stream.',
    label: 'provider',
    bounds: FIRST_OUTPUT_BUCKETS,
  })
  const open = new Map<string, number>()
  new Gauge({
    name: 'sluice_streams_open',
    help: 'Streams whose first output has left, and that are not over.',
    labelNames: ['provider'],
    registers: [registry],
    collect() {
      for (const [provider, count] of open) this.set({ provider }, count)
    },
  })
  return {
    committed(provider, ms, failed) {
      commits.add(1, provider)
      if (failed > 0) fallbacks.add(failed, provider)
      first.observe(provider, ms / 1_000)
      open.set(provider, (open.get(provider) ?? 0) + 1)
    },
    ended(provider, cause: FailureName | null, isEstimated) {
      open.set(provider, (open.get(provider) ?? 1) - 1)
      if (cause !== null) cuts.add(1, provider, cause)
      if (isEstimated) estimated.add(1, provider)
    },
  }
}
