import { bootId } from '../journal/boot-id.ts'
import { openJournal } from '../journal/journal.ts'
import { openKeptCount } from '../journal/kept-count.ts'
import { journalsFolder } from '../journal/segments.ts'
import type { Config } from '../config.ts'
import { createSpend, type FrontSpend } from '../money/spend.ts'
import type { Metrics } from '../observe/metrics.ts'
import { watchMoney } from '../observe/money-metrics.ts'
import type { EpochFeed } from '../ports/keys/keys.ts'
import type { Log } from '../ports/observe.ts'
import type { FrontCount } from '../ports/rates.ts'
import { openLender } from '../store/money/lender.ts'
import { openStore, type StoreOptions } from '../store/base/open.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { identityOf } from '../supervisor/fleet/process-state.ts'
import { MONEY_POOL_MAX } from '../supervisor/fleet/shares.ts'
import { REAL_TIMERS } from '../money/reservation.ts'

export interface MoneyDeps {
  readonly part: StartedPart
  readonly store: { readonly options: StoreOptions }
  readonly feed: EpochFeed
  readonly fronts: FrontCount
  readonly metrics: Pick<Metrics, 'registry' | 'live'>
  readonly log: Log
  /** Called when this front must be replaced. */
  readonly fenced: () => void
}

export interface MoneyServices {
  readonly spend: FrontSpend
  /** To be called when no call is under way any more. */
  close(): Promise<void>
}

/**
 * The money of a front's calls, on connections of its own: a flood of unknown keys must not keep money from
 * coming.
 */
export function openMoneyPorts({ dataDir }: Pick<Config, 'dataDir'>, deps: MoneyDeps): MoneyServices {
  const {
    part: { id, node },
    feed,
    fronts,
    metrics,
    log,
    fenced,
  } = deps
  const { options } = deps.store
  const lane = openStore({
    ...options,
    poolMax: MONEY_POOL_MAX,
    applicationName: `${options.applicationName}-money`,
  })
  const owner = { id, node, bootId: bootId() }
  const holder = identityOf(process.pid) ?? { pid: process.pid, startedAt: '' }
  const journal = openJournal({ folder: journalsFolder(dataDir), ...owner, holder, log })
  const spend = createSpend({
    lender: openLender(lane, { log, count: openKeptCount(dataDir, node, log) }),
    journal,
    owner,
    fronts,
    feed,
    timers: REAL_TIMERS,
    log,
    fenced,
  })
  watchMoney(metrics.registry, () => spend.reading)
  metrics.live.add({ money: () => spend.reading })
  return {
    spend,
    async close() {
      await spend.close()
      await lane.close()
    },
  }
}
