import { Counter, type Registry } from 'prom-client'
import { usdOfNano } from '../../schemas/money/usd.ts'
import type { MoneyReading } from '../ports/money/money.ts'
import { readMetrics } from './read-metrics.ts'

/** Metrics of a front's money, read on demand; no label names an account. Design §11. */
export function watchMoney(registry: Registry, read: () => MoneyReading): void {
  const { gauge, counter } = readMetrics(registry, read)
  counter(
    'sluice_money_takes_total',
    'Paid calls: money was reserved for them, or their cost was booked.',
    ({ takes }) => takes,
  )
  gauge(
    'sluice_money_calls_open',
    'Paid calls in progress, each with an open reservation.',
    ({ open }) => open,
  )
  counter(
    'sluice_money_overruns_total',
    'Calls that cost more than the maximum computed for them.',
    ({ overruns }) => overruns,
  )
  counter('sluice_money_spent_usd_total', 'USD charged for calls.', ({ spentNano }) => usdOfNano(spentNano))
  new Counter({
    name: 'sluice_money_refusals_total',
    help: 'Calls refused for lack of money, by the component that refused them.',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [source, count] of Object.entries(read().refusals)) this.inc({ source }, count)
    },
  })
  gauge('sluice_money_calls_waiting', 'Calls waiting for a reservation of money.', ({ waiting }) => waiting)
  gauge('sluice_money_held_usd', 'USD lent to this front and not reserved by a call.', ({ heldNano }) =>
    usdOfNano(heldNano),
  )
  counter('sluice_money_lends_total', 'Loans of money from the database to a front.', ({ lends }) => lends)
  counter(
    'sluice_money_lend_seconds_total',
    'Seconds fronts waited for loans of money.',
    ({ lendS }) => lendS,
  )
  counter('sluice_money_flushes_total', 'Journal batches written to the ledger.', ({ flushes }) => flushes)
  counter(
    'sluice_money_flushed_entries_total',
    'Journal entries written to the ledger.',
    ({ flushedEntries }) => flushedEntries,
  )
  gauge(
    'sluice_money_flush_lag_seconds',
    'Age in seconds of the oldest journal entry not yet in the ledger.',
    ({ flushLagS }) => flushLagS,
  )
  counter(
    'sluice_money_give_backs_total',
    'Number of times a front returned lent money.',
    ({ giveBacks }) => giveBacks,
  )
  gauge(
    'sluice_money_journal_broken',
    '1 while the journal cannot be written: paid calls are refused.',
    ({ isJournalBroken }) => Number(isJournalBroken),
  )
}
