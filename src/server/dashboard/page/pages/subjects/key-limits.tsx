import { h, type ComponentChild } from 'preact'
import type { ApiKey } from '../../../../../schemas/keys/keys.ts'
import { BurnDown } from '../../charts/burn-down.tsx'
import { forecastOf, type Burned } from '../../charts/forecast.ts'
import { nodeNow } from '../../live.ts'
import type { PageContext } from '../../page.ts'
import { Meter } from '../../parts/badge.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { usd } from '../../parts/figures.tsx'
import { namesOf } from '../../parts/key-names.ts'
import { SubjectLink } from '../../parts/links.tsx'
import type { Refusals } from './refusals.ts'
import { counted, daysOf, type Spend } from '../spend-sums.ts'

/** Limits that are listed: those that will be used up first. Decision. */
const LIMITS_SHOWN = 20

/** The limit of a key in its window; null: it has none. */
export function burnedOf(
  { hash, limit, limit_remaining: left, limit_reset: reset, include_byok_in_limit: isByok }: ApiKey,
  recent: Spend,
): Burned | null {
  if (limit === null) return null
  const group = recent.groups.key.find(({ name }) => name === hash)
  return {
    limit,
    spent: limit - (left ?? limit),
    interval: reset ?? 'lifetime',
    days: daysOf(recent, group, counted(isByok)),
  }
}

interface Row {
  readonly apiKey: ApiKey
  readonly burned: Burned
}

/** Keys with a spending limit: the part used, and how long the rest will last. */
export function LimitsOfKeys({
  context,
  recent,
  refusals,
}: {
  readonly context: PageContext
  readonly recent: Spend
  readonly refusals: Refusals
}): ComponentChild {
  const nowMs = nodeNow(context)
  const rows = [...recent.keys.values()]
    .flatMap((apiKey): Row[] => {
      const burned = apiKey.disabled ? null : burnedOf(apiKey, recent)
      return burned === null ? [] : [{ apiKey, burned }]
    })
    .toSorted((a, b) => urgencyOf(a.burned, nowMs) - urgencyOf(b.burned, nowMs))
    .slice(0, LIMITS_SHOWN)
  const names = namesOf([...recent.keys.values()])
  const columns: readonly Column<Row>[] = [
    {
      title: 'Key',
      isName: true,
      cell: ({ apiKey: { hash, name } }) => <SubjectLink to="key" id={hash} text={names.get(hash) ?? name} />,
    },
    { title: 'Resets', cell: ({ burned }) => burned.interval },
    {
      title: 'Spent',
      cell: ({ apiKey: { name }, burned: { limit, spent } }) => (
        <Meter
          label={`Spend of ${name} against its limit`}
          value={spent}
          max={limit}
          text={`${usd(spent)} of ${usd(limit)}`}
        />
      ),
    },
    {
      title: 'Forecast',
      cell: ({ apiKey: { hash }, burned }) => (
        <BurnDown burned={burned} nowMs={nowMs} refused={refusals.of('key', hash)} />
      ),
    },
  ]
  return (
    <section class="panel" aria-label="Key limits">
      <h2>Key limits</h2>
      <DataTable<Row>
        caption="Key limits, soonest to run out first"
        columns={columns}
        rows={rows}
        keyOf={({ apiKey }) => apiKey.hash}
        empty="No key has a spending limit."
      />
    </section>
  )
}

/** Sorting value: the time at which a limit is used up; for limits that last, the share used. */
function urgencyOf(burned: Burned, nowMs: number): number {
  const { usedUpMs } = forecastOf(burned, nowMs)
  return usedUpMs ?? Number.MAX_SAFE_INTEGER * (1 - burned.spent / burned.limit / 2)
}
