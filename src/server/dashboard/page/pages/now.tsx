import { type ComponentChild, h } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { FrontView, LiveView, ModelView, OperationView } from '../../../../schemas/operator/live-view.ts'
import { useLive } from '../live.ts'
import type { Page, PageContext } from '../page.ts'
import { Badge } from '../parts/badge.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { bytes, count, duration, figure, share, Time, usd, Tile } from '../parts/figures.tsx'
import { SubjectLink, StartLink } from '../parts/links.tsx'
import { Plot, type PlotLine } from '../parts/plot.tsx'
import { History } from './now-history.tsx'
import { Findings } from './now/findings.tsx'
import { Providers, Stores } from './now/stores.tsx'

export const nowPage: Page = {
  path: 'now',
  title: 'Now',
  letter: 'n',
  view: (context) => <Now {...context} />,
}

/** Factor by which another operation must be busier than the shown one to replace it. */
const OVERTAKES = 1.5

/** The state of the node: problems, figures, history, operations, models and processes. */
function Now(context: PageContext): ComponentChild {
  const { live } = context
  const { latest, looks, isStale, problem } = useLive(live)
  const busiest = useBusiest(latest)
  if (latest === null)
    return (
      <p class={problem === null ? 'waiting' : 'notice bad'} role="status">
        {problem ?? 'Loading live figures…'}
      </p>
    )
  return (
    <div class={isStale ? 'stale' : undefined}>
      {isStale && (
        <p class="notice warn" role="status">
          <span>
            {'These figures are from '}
            <Time at={latest.at} />
            {'. '}
            {problem ?? 'The live view is interrupted.'}
          </span>
        </p>
      )}
      <Findings latest={latest} />
      <Tiles latest={latest} busiest={busiest} />
      <History context={context} />
      <h2>The last five minutes</h2>
      <Plots looks={looks} busiest={busiest} />
      <section class="panel" aria-label="Operations">
        <h2>Operations</h2>
        <Operations latest={latest} />
      </section>
      <section class="panel" aria-label="Text models">
        <h2>Text models</h2>
        <Models {...latest.streams} />
      </section>
      <div class="grid">
        <div class="stack">
          <section class="panel" aria-label="Processes">
            <h2>Processes</h2>
            <Processes latest={latest} />
          </section>
          <section class="panel" aria-label="Providers">
            <h2>Providers</h2>
            <Providers latest={latest} />
          </section>
        </div>
        <section class="panel" aria-label="Stores and queues">
          <h2>Stores and queues</h2>
          <Stores latest={latest} />
        </section>
      </div>
    </div>
  )
}

/** The busiest operation. It changes only when another one is clearly busier, so that two similar ones do not alternate. */
function useBusiest(latest: LiveView | null): string | undefined {
  const last = useRef<string | undefined>(undefined)
  const [first] = latest?.operations ?? []
  const shown = latest === null ? undefined : named(latest, last.current)
  if (shown === undefined || shown.per_second * OVERTAKES < (first?.per_second ?? 0))
    last.current = first?.operation
  return last.current
}

interface Latest {
  readonly latest: LiveView
}

function Tiles({ latest, busiest: name }: Latest & Busiest): ComponentChild {
  const busiest = named(latest, name)
  const { requests_per_second: requests, refused_per_second: refused, failed_per_second: failed } = latest
  const { fronts, inflight, cpu_share: cpu, memory_bytes: memory, readiness, streams, money } = latest
  const loop = Math.max(0, ...fronts.map(({ loop_p99_ms: p99 }) => p99))
  return (
    <dl class="tiles">
      <Tile name="Requests" value={`${figure(requests)}/s`} note={`${count(inflight)} in progress`} />
      <Tile
        name="Client errors (4xx)"
        value={`${figure(refused)}/s`}
        note={requests > 0 ? share(refused / requests) : undefined}
      />
      <Tile
        name="Server errors (5xx)"
        value={`${figure(failed)}/s`}
        note={requests > 0 ? share(failed / requests) : undefined}
        tone={failed > 0 ? 'bad' : undefined}
      />
      <Tile name="p99 latency" value={duration(busiest?.p99_ms)} note={busiest?.operation} />
      <Tile
        name="CPU"
        value={share(cpu)}
        note={`${bytes(memory)}, event loop ${duration(loop)}`}
        tone={readiness.fronts.ready < readiness.fronts.wanted ? 'warn' : undefined}
      />
      <Tile
        name="Open streams"
        value={count(streams.open)}
        note={
          streams.ttft_p50_ms === null
            ? undefined
            : `first token ${duration(streams.ttft_p50_ms)}, p99 ${duration(streams.ttft_p99_ms)}`
        }
      />
      <Tile
        name="Output tokens"
        value={`${figure(streams.tokens_per_second)}/s`}
        note={`${usd(money.spent_usd_per_minute)}/min`}
      />
    </dl>
  )
}

const OPERATION_COLUMNS: readonly Column<OperationView>[] = [
  {
    title: 'Operation',
    isName: true,
    cell: ({ operation }) => operation,
    sortBy: ({ operation }) => operation,
  },
  {
    title: 'Per second',
    isNumber: true,
    cell: (row) => figure(row.per_second),
    sortBy: (row) => row.per_second,
  },
  {
    title: 'Client errors (4xx)',
    isNumber: true,
    cell: (row) => figure(row.refused_per_second),
    sortBy: (row) => row.refused_per_second,
  },
  {
    title: 'Server errors (5xx)',
    isNumber: true,
    sortBy: (row) => row.failed_per_second,
    cell: (row) =>
      row.failed_per_second > 0 ? <Badge text={figure(row.failed_per_second)} tone="bad" /> : figure(0),
  },
  { title: 'Median', isNumber: true, cell: (row) => duration(row.p50_ms), sortBy: (row) => row.p50_ms ?? -1 },
  { title: 'p99', isNumber: true, cell: (row) => duration(row.p99_ms), sortBy: (row) => row.p99_ms ?? -1 },
]

function Operations({ latest: { operations, quantile_seconds: seconds } }: Latest): ComponentChild {
  return (
    <DataTable<OperationView>
      caption="Requests by operation"
      columns={OPERATION_COLUMNS}
      rows={operations}
      keyOf={({ operation }) => operation}
      empty={[`No calls in the last ${count(seconds)} seconds. `, <StartLink key="start" />]}
    />
  )
}

const FRONT_COLUMNS: readonly Column<FrontView>[] = [
  {
    title: 'Front',
    isName: true,
    cell: ({ front, pid }) => [
      `${front} `,
      <small class="hint" key="pid">
        {`pid ${pid}`}
      </small>,
    ],
  },
  { title: 'Busy', isNumber: true, cell: (row) => share(row.utilization), sortBy: (row) => row.utilization },
  {
    title: 'Loop p99',
    isNumber: true,
    cell: (row) => duration(row.loop_p99_ms),
    sortBy: (row) => row.loop_p99_ms,
  },
  { title: 'Job threads', isNumber: true, cell: (row) => poolText(row, 'short_jobs') },
  { title: 'Transfer threads', isNumber: true, cell: (row) => poolText(row, 'sessions') },
]

function poolText({ pools }: FrontView, name: 'short_jobs' | 'sessions'): string {
  const found = pools.find(({ pool }) => pool === name)
  return found === undefined ? figure(null) : `${share(found.utilization)} / ${duration(found.wait_ms)}`
}

function Processes({
  latest: {
    fronts,
    readiness: { fronts: serving, workers, runners },
  },
}: Latest): ComponentChild {
  return (
    <div>
      <DataTable<FrontView>
        caption="Fronts and their worker threads"
        columns={FRONT_COLUMNS}
        rows={fronts}
        keyOf={({ pid }) => String(pid)}
        empty="No front process is running."
      />
      <p class="hint">
        {`Ready: ${readyOf(serving)} fronts, ${readyOf(workers)} transfer threads, ${readyOf(runners)} runners. `}
        Utilization and mean wait of the job and transfer threads.
      </p>
    </div>
  )
}

const readyOf = ({ ready, wanted }: LiveView['readiness']['runners']): string =>
  `${count(ready)} of ${count(wanted)}`

const MODEL_COLUMNS: readonly Column<ModelView>[] = [
  {
    title: 'Model',
    isName: true,
    // Rows that group several models have no page.
    cell: ({ model }) => (model.includes('/') ? <SubjectLink to="model" id={model} /> : model),
    sortBy: ({ model }) => model,
  },
  {
    title: 'Input tokens',
    isNumber: true,
    cell: (row) => count(row.input_tokens),
    sortBy: (row) => row.input_tokens,
  },
  {
    title: 'Cached',
    isNumber: true,
    cell: (row) => share(row.cached_share),
    sortBy: (row) => row.cached_share ?? -1,
  },
  { title: 'Dropped fields', isText: true, cell: droppedText },
]

/** Input tokens and dropped fields by model, and the causes of cut-off streams, since the processes started. */
function Models({ models, cut }: Pick<LiveView['streams'], 'models' | 'cut'>): ComponentChild {
  return (
    <div>
      <DataTable<ModelView>
        caption="Input tokens and dropped fields by model"
        columns={MODEL_COLUMNS}
        rows={models}
        keyOf={({ model }) => model}
        empty={['No model calls yet. ', <StartLink key="start" />]}
      />
      <p class="hint">{`${cutText(cut)} The figures start with the node.`}</p>
    </div>
  )
}

/** `seed 3, logit_bias 1`: the calls of each. */
export function droppedText({ dropped }: Pick<ModelView, 'dropped'>): string {
  return dropped.map(({ field, calls }) => `${field} ${count(calls)}`).join(', ')
}

export function cutText(cut: LiveView['streams']['cut']): string {
  if (cut.length === 0) return 'No interrupted streams.'
  return `Interrupted streams: ${cut.map(({ cause, streams }) => `${count(streams)} ${cause}`).join(', ')}.`
}

interface Busiest {
  /** Name of the operation whose latency is shown. */
  readonly busiest: string | undefined
}

/** Plots of the views kept from the stream; redrawn with each view. */
function Plots({ looks, busiest }: Busiest & { readonly looks: readonly LiveView[] }): ComponentChild {
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

function named({ operations }: LiveView, name: string | undefined): OperationView | undefined {
  return operations.find(({ operation }) => operation === name)
}

function worst(
  fronts: readonly FrontView[],
  name: 'loop_p50_ms' | 'loop_p99_ms' | 'loop_max_ms',
): number | null {
  return fronts.length === 0 ? null : Math.max(...fronts.map((front) => front[name]))
}
