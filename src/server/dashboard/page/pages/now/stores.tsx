import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'
import type { LiveView, ProviderView } from '../../../../../schemas/operator/live-view.ts'
import { hashOf } from '../../page.ts'
import { Badge, ProviderBadge } from '../../parts/badge.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { count, duration, figure, Time } from '../../parts/figures.tsx'
import { SubjectLink } from '../../parts/links.tsx'

interface Latest {
  readonly latest: LiveView
}

const DEPENDENCIES = { postgres: 'Postgres', redis: 'Redis', storage: 'Disks' } as const
const NODE_TONES = { ready: 'good', degraded: 'warn', unavailable: 'bad' } as const

/** The state of the stores that the node depends on, and the amount of waiting work. */
export function Stores({ latest }: Latest): ComponentChild {
  const { version, readiness, videos, money } = latest
  const { dependencies, status, reasons } = readiness
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
        {` Paid calls in progress: ${count(money.calls_open)}, waiting: ${count(money.calls_waiting)}; ledger delay: ${duration(money.journal_lag_ms)}`}
      </Fact>
      <Fact name="Videos">
        {held.length === 0
          ? 'No open video jobs'
          : held.map(([state, jobs]) => `${count(jobs)} ${state}`).join(', ')}
      </Fact>
      <Fact name="Webhooks">
        <Webhooks latest={latest} />
      </Fact>
    </dl>
  )
}

function Webhooks({ latest: { webhooks } }: Latest): ComponentChild {
  if (webhooks === null) return 'not counted yet'
  const waiting = `${count(webhooks.waiting)} waiting, `
  if (webhooks.dead === 0) return `${waiting}none dead`
  return [
    waiting,
    <a key="dead" href={hashOf('webhooks', { state: 'dead' })}>
      <Badge text={`${count(webhooks.dead)} dead`} tone="bad" />
    </a>,
  ]
}

const PROVIDER_COLUMNS: readonly Column<ProviderView>[] = [
  {
    title: 'Provider',
    isName: true,
    cell: ({ provider }) => <SubjectLink to="provider" id={provider} />,
    sortBy: ({ provider }) => provider,
  },
  { title: 'State', isText: true, cell: (row) => <ProviderBadge {...row} />, sortBy: ({ state }) => state },
  {
    title: 'Per second',
    isNumber: true,
    cell: (row) => figure(row.per_second),
    sortBy: (row) => row.per_second,
  },
  {
    title: 'Failed',
    isNumber: true,
    cell: (row) =>
      row.failed_per_second > 0 ? <Badge text={figure(row.failed_per_second)} tone="bad" /> : figure(0),
    sortBy: (row) => row.failed_per_second,
  },
]

/** Providers that got calls since the node started, one row each. */
export function Providers({ latest: { providers } }: Latest): ComponentChild {
  return (
    <DataTable<ProviderView>
      caption="Providers"
      columns={PROVIDER_COLUMNS}
      rows={providers}
      keyOf={({ provider }) => provider}
      empty="No calls to providers yet."
    />
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
    <Fragment>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </Fragment>
  )
}
