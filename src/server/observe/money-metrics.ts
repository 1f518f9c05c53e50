import { Counter, type Registry } from 'prom-client'
import type { MoneyReading } from '../ports/money/money.ts'
import { readMetrics, type ReadMetrics } from './read-metrics.ts'
import { usdOfNano } from '../../schemas/money/costs.ts'

/** Metrics of a front's money, read on demand; no label names an account. Design §11. */
export function watchMoney(registry: Registry, read: () => MoneyReading): void {
  const metrics = readMetrics(registry, read)
  const { gauge, counter } = metrics
  counter(
    'sluice_money_takes_total',
    'Paid calls for which money was reserved or a cost was booked.',
    ({ takes }) => takes,
  )
  gauge(
    'sluice_money_calls_open',
    'Paid calls in progress, each with an open reservation.',
    ({ open }) => open,
  )
  counter(
    'sluice_money_overruns_total',
    'Calls that cost more than the maximum computed before the call.',
    ({ overruns }) => overruns,
  )
  counter('sluice_money_spent_usd_total', 'USD charged for calls.', ({ spentNano }) => usdOfNano(spentNano))
  new Counter({
    name: 'sluice_money_refusals_total',
    help: 'Calls refused for lack of money, by source: credit, key_limit, budget, unbounded (unknown maximum cost), unavailable or busy.',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [source, count] of Object.entries(read().refusals)) this.inc({ source }, count)
    },
  })
  gauge('sluice_money_calls_waiting', 'Calls waiting for money to be reserved.', ({ waiting }) => waiting)
  gauge(
    'sluice_money_held_usd',
    'USD that the ledger has lent to fronts (processes that serve calls) and that no call has reserved.',
    ({ heldNano }) => usdOfNano(heldNano),
  )
  watchBooks(metrics)
}

/** Loans of the ledger, and the journals whose entries go to it. */
function watchBooks({ gauge, counter }: ReadMetrics<MoneyReading>): void {
  counter(
    'sluice_money_lends_total',
    'Loans of money from the ledger in Postgres to fronts (processes that serve calls).',
    ({ lends }) => lends,
  )
  counter(
    'sluice_money_lend_seconds_total',
    'Time that fronts waited for loans of money from the ledger, in seconds.',
    ({ lendS }) => lendS,
  )
  counter(
    'sluice_money_flushes_total',
    'Batches of money journal entries written to the ledger.',
    ({ flushes }) => flushes,
  )
  counter(
    'sluice_money_flushed_entries_total',
    'Money journal entries written to the ledger.',
    ({ flushedEntries }) => flushedEntries,
  )
  gauge(
    'sluice_money_flush_lag_seconds',
    'Age in seconds of the oldest money journal entry not yet in the ledger: the maximum over all fronts.',
    ({ flushLagS }) => flushLagS,
    'max',
  )
  counter(
    'sluice_money_give_backs_total',
    'Number of times a front (a process that serves calls) returned unused money to the ledger.',
    ({ giveBacks }) => giveBacks,
  )
  gauge(
    'sluice_money_journal_broken',
    '1 while a front (a process that serves calls) cannot write its money journal and refuses paid calls, else 0.',
    ({ isJournalBroken }) => Number(isJournalBroken),
    'max',
  )
}
