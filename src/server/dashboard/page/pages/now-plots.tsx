import { h, type ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type { FrontView, LiveView, OperationView } from '../../../../schemas/operator/live-view.ts'
import { duration, figure } from '../parts/figures.tsx'
import { Plot, type PlotLine } from '../parts/plot.tsx'

export interface Busiest {
  /** Name of the operation whose latency is shown. */
  readonly busiest: string | undefined
}

/** Lines of what was kept of the stream; drawn anew with each look. */
export function Plots({ looks, busiest }: Busiest & { readonly looks: readonly LiveView[] }): ComponentChild {
  const drawn = useMemo(() => {
    const line = (name: string, colour: string, value: (look: LiveView) => number | null): PlotLine => ({
      name,
      colour,
      values: looks.map(value),
    })
    return {
      at: looks.map(({ at }) => Date.parse(at) / 1_000),
      requests: [
        line('total', 'line-1', (look) => look.requests_per_second),
        line('4xx', 'line-4', (look) => look.refused_per_second),
        line('5xx', 'line-bad', (look) => look.failed_per_second),
      ],
      latency: [
        line('p50', 'line-2', (look) => named(look, busiest)?.p50_ms ?? null),
        line('p99', 'line-4', (look) => named(look, busiest)?.p99_ms ?? null),
      ],
      first: [
        line('p50', 'line-2', (look) => look.streams.ttft_p50_ms),
        line('p99', 'line-4', (look) => look.streams.ttft_p99_ms),
      ],
      tokens: [line('tokens', 'line-1', (look) => look.streams.tokens_per_second)],
      loop: [
        line('p50', 'line-2', (look) => worst(look.fronts, 'loop_p50_ms')),
        line('p99', 'line-4', (look) => worst(look.fronts, 'loop_p99_ms')),
        line('max', 'line-3', (look) => worst(look.fronts, 'loop_max_ms')),
      ],
    }
  }, [looks, busiest])
  const { at, requests, latency, first, tokens, loop } = drawn
  return (
    <div class="grid" style={{ '--least': '20rem' }}>
      <section class="panel">
        <Plot title="Requests per second" at={at} lines={requests} format={figure} />
      </section>
      <section class="panel">
        <Plot
          title={`Latency of ${busiest ?? 'the busiest operation'}`}
          at={at}
          lines={latency}
          format={duration}
        />
      </section>
      <section class="panel">
        <Plot title="Time to first token" at={at} lines={first} format={duration} />
      </section>
      <section class="panel">
        <Plot title="Output tokens per second" at={at} lines={tokens} format={figure} />
      </section>
      <section class="panel">
        <Plot title="Event-loop delay, slowest front" at={at} lines={loop} format={duration} />
      </section>
    </div>
  )
}

export function named({ operations }: LiveView, name: string | undefined): OperationView | undefined {
  return operations.find(({ operation }) => operation === name)
}

function worst(
  fronts: readonly FrontView[],
  name: 'loop_p50_ms' | 'loop_p99_ms' | 'loop_max_ms',
): number | null {
  return fronts.length === 0 ? null : Math.max(...fronts.map((front) => front[name]))
}
