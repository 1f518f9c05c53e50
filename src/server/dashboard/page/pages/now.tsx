import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { FrontView, LiveView, OperationView } from '../../../../schemas/operator/live-view.ts'
import { useLive } from '../live.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { Badge } from '../parts/badge.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { StartLink } from '../parts/empty-links.tsx'
import { bytes, count, duration, figure, share, Time, usd } from '../parts/figures.tsx'
import { ProviderBadge } from '../parts/provider-badge.tsx'
import { SubjectLink } from '../parts/subject-link.tsx'
import { Tile } from '../parts/tile.tsx'
import { withCode } from '../parts/with-code.tsx'
import { failedLately } from './calls/request-filters.tsx'
import { History } from './now-history.tsx'
import { Models } from './now-models.tsx'
import { named, Plots, type Busiest } from './now-plots.tsx'

export const nowPage: Page = {
  path: 'now',
  title: 'Now',
  letter: 'n',
  view: (context) => <Now {...context} />,
}

/** Times the calls of the operation that is shown by which another must be busier to be shown instead. */
const OVERTAKES = 1.5

/** What the node is doing, and what hurts. */
function Now(context: PageContext): ComponentChild {
  const { live } = context
  const { latest, looks, isStale, problem } = useLive(live)
  const busiest = useBusiest(latest)
  if (latest === null)
    return (
      <p class={problem === null ? 'waiting' : 'notice bad'} role="status">
        {problem ?? 'Waiting for the first look…'}
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
            {problem ?? 'The stream stands still.'}
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
      <section class="panel" aria-label="Models that write">
        <h2>Models that write</h2>
        <Models {...latest.streams} />
      </section>
      <div class="grid">
        <section class="panel" aria-label="Processes">
          <h2>Processes</h2>
          <Processes latest={latest} />
        </section>
        <section class="panel" aria-label="Stores and queues">
          <h2>Stores and queues</h2>
          <Stores latest={latest} />
        </section>
      </div>
    </div>
  )
}

/** The operation that is called most; of two that are called alike it stays the one that it was. */
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

function Findings({ latest: { findings } }: Latest): ComponentChild {
  const keys = keysOf(findings)
  return (
    <section aria-label="What hurts">
      {findings.length === 0 ? (
        <p class="notice good">Nothing hurts.</p>
      ) : (
        <ul class="findings">
          {findings.map(({ severity, text, fix, page }, at) => (
            <li key={keys[at]} class={severity}>
              <strong>{text}</strong>
              <span class="hint">{withCode(fix)}</span>
              {page !== undefined && <a href={`#/${page}`}>{`Look at ${page.replace(/\?.*/, '')}`}</a>}
            </li>
          ))}
        </ul>
      )}
      <a class="hint" href={hashOf('requests', failedLately())}>
        Calls that failed in the last hour
      </a>
    </section>
  )
}

/**
 * Keeps the key of a finding while only its figures change: an element must not be recreated under the
 * pointer.
 */
function keysOf(findings: LiveView['findings']): readonly string[] {
  const counts = new Map<string, number>()
  return findings.map(({ text }) => {
    const kind = text.replace(/[\d.,]+/g, '#')
    const nth = counts.get(kind) ?? 0
    counts.set(kind, nth + 1)
    return `${kind} ${nth}`
  })
}

function Tiles({ latest, busiest: name }: Latest & Busiest): ComponentChild {
  const busiest = named(latest, name)
  const { requests_per_second: requests, refused_per_second: refused, failed_per_second: failed } = latest
  const { fronts, inflight, cpu_share: cpu, memory_bytes: memory, readiness, streams, money } = latest
  const loop = Math.max(0, ...fronts.map(({ loop_p99_ms: p99 }) => p99))
  return (
    <dl class="tiles">
      <Tile name="Requests" value={`${figure(requests)}/s`} note={`${count(inflight)} under way`} />
      <Tile
        name="Refused (4xx)"
        value={`${figure(refused)}/s`}
        note={requests > 0 ? share(refused / requests) : undefined}
      />
      <Tile
        name="Failures of ours"
        value={`${figure(failed)}/s`}
        note={requests > 0 ? share(failed / requests) : undefined}
        tone={failed > 0 ? 'bad' : undefined}
      />
      <Tile
        name={`p99${busiest === undefined ? '' : ` of ${busiest.operation}`}`}
        value={duration(busiest?.p99_ms)}
        note={`event loop ${duration(loop)}`}
      />
      <Tile
        name={`CPU, ${count(readiness.fronts.ready)} of ${count(readiness.fronts.wanted)} fronts`}
        value={share(cpu)}
        note={bytes(memory)}
        tone={readiness.fronts.ready < readiness.fronts.wanted ? 'warn' : undefined}
      />
      <Tile
        name="Open streams"
        value={count(streams.open)}
        note={`first output ${duration(streams.ttft_p50_ms)}, p99 ${duration(streams.ttft_p99_ms)}`}
      />
      <Tile
        name="Tokens written"
        value={`${figure(streams.tokens_per_second)}/s`}
        note={`${usd(money.spent_usd_per_minute)} a minute`}
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
    title: 'Refused (4xx)',
    isNumber: true,
    cell: (row) => figure(row.refused_per_second),
    sortBy: (row) => row.refused_per_second,
  },
  {
    title: 'Failed (5xx)',
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
      `front ${front} `,
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
  { title: 'Short jobs', isNumber: true, cell: (row) => poolText(row, 'short_jobs') },
  { title: 'Sessions', isNumber: true, cell: (row) => poolText(row, 'sessions') },
]

function poolText({ pools }: FrontView, name: 'short_jobs' | 'sessions'): string {
  const found = pools.find(({ pool }) => pool === name)
  return found === undefined ? figure(null) : `${share(found.utilization)} / ${duration(found.wait_ms)}`
}

function Processes({
  latest: {
    fronts,
    readiness: { workers, runners },
  },
}: Latest): ComponentChild {
  return (
    <div>
      <DataTable<FrontView>
        caption="Fronts and their worker threads"
        columns={FRONT_COLUMNS}
        rows={fronts}
        keyOf={({ pid }) => String(pid)}
        empty="No front has answered."
      />
      <p class="hint">
        {`${count(workers.ready)} of ${count(workers.wanted)} session threads, ${count(runners.ready)} of ${count(runners.wanted)} runners are ready. `}
        Of a pool: how busy its threads are, and how long work waits for one.
      </p>
    </div>
  )
}

const DEPENDENCIES = { postgres: 'Postgres', redis: 'Redis', storage: 'Disks' } as const
const NODE_TONES = { ready: 'good', degraded: 'warn', unavailable: 'bad' } as const

function Stores({ latest }: Latest): ComponentChild {
  const {
    version,
    readiness: { dependencies, status, reasons },
    videos,
    webhooks,
    money,
    providers,
  } = latest
  const held = Object.entries(videos.held)
  return (
    <dl class="facts">
      <Fact name="Node">
        <Badge text={status} tone={NODE_TONES[status]} />
        {` version ${version} `}
        {reasons.join(', ')}
      </Fact>
      {Object.entries(dependencies).map(([name, { state, mode, since, effect }]) => (
        <Fact key={name} name={DEPENDENCIES[name as keyof typeof DEPENDENCIES]}>
          <Badge text={state} tone={state === 'up' ? 'good' : 'bad'} />
          {` ${mode}, since `}
          <Time at={since} />
          {effect !== undefined && <span class="hint">{` ${effect}`}</span>}
        </Fact>
      ))}
      <Fact name="Money">
        {money.is_journal_broken && <Badge text="journal broken" tone="bad" />}
        {` ${count(money.calls_open)} paid calls under way, ${count(money.calls_waiting)} wait; books ${duration(money.journal_lag_ms)} behind`}
      </Fact>
      <Fact name="Videos">
        {held.length === 0
          ? 'No open job is held.'
          : held.map(([state, jobs]) => `${count(jobs)} ${state}`).join(', ')}
      </Fact>
      <Fact name="Webhooks">
        {webhooks === null
          ? 'not counted yet'
          : [
              `${count(webhooks.waiting)} waiting, `,
              webhooks.dead > 0 ? (
                <a key="dead" href={hashOf('webhooks', { state: 'dead' })}>
                  <Badge text={`${count(webhooks.dead)} dead`} tone="bad" />
                </a>
              ) : (
                'none dead'
              ),
            ]}
      </Fact>
      <Fact name="Providers">
        {providers.length === 0
          ? 'None was asked yet.'
          : providers.map((row) => (
              <span key={row.provider}>
                <SubjectLink to="provider" id={row.provider} /> <ProviderBadge {...row} />
                {` ${figure(row.per_second)}/s `}
              </span>
            ))}
      </Fact>
    </dl>
  )
}

function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children?: ComponentChildren
}): ComponentChild {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
