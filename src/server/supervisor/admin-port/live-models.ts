import { LIVE_MODELS_MAX } from '../../../schemas/operator/admin-port-limits.ts'
import type { LiveView, ModelView } from '../../../schemas/operator/live-view.ts'
import type { ProcessSpans } from './live-spans.ts'
import { rounded } from '../../observe/durations.ts'
import type { ModelReading } from '../../observe/stream-metrics.ts'

/** Figures of the models that write, of all processes together since they started. D36. */
export function answeredSince(
  processes: readonly ProcessSpans[],
): Pick<LiveView['streams'], 'cut' | 'models'> {
  const fronts = processes.flatMap(({ last: { to } }) => to.streams ?? [])
  const cuts = new Map<string, number>()
  for (const front of fronts) addAll(cuts, front.cuts)
  return {
    cut: mostFirst(cuts).map(([cause, streams]) => ({ cause, streams })),
    models: modelViews(fronts.flatMap(({ models }) => models)),
  }
}

function modelViews(readings: readonly ModelReading[]): ModelView[] {
  const found = new Map<string, ModelSums>()
  for (const { model, inputTokens, cachedTokens, dropped } of readings) {
    const sums = found.get(model) ?? { inputTokens: 0, cachedTokens: 0, dropped: new Map<string, number>() }
    sums.inputTokens += inputTokens
    sums.cachedTokens += cachedTokens
    addAll(sums.dropped, dropped)
    found.set(model, sums)
  }
  return Array.from(found, ([model, { inputTokens, cachedTokens, dropped }]) => ({
    model,
    input_tokens: inputTokens,
    cached_share: inputTokens === 0 ? null : rounded(cachedTokens / inputTokens),
    dropped: mostFirst(dropped).map(([field, calls]) => ({ field, calls })),
  }))
    .sort((a, b) => b.input_tokens - a.input_tokens || a.model.localeCompare(b.model))
    .slice(0, LIVE_MODELS_MAX)
}

interface ModelSums {
  inputTokens: number
  cachedTokens: number
  readonly dropped: Map<string, number>
}

function addAll(sums: Map<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count)
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one, a], [other, b]) => b - a || one.localeCompare(other))
}
