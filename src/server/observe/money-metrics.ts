import { Counter, type Registry } from 'prom-client'
import { usdOfNano } from '../../schemas/money/usd.ts'
import type { MoneyReading } from '../ports/money/money.ts'
import { readMetrics } from './read-metrics.ts'

/** Metrics of a front's money, read on demand; no label names an account. Design §11. */
export function watchMoney(registry: Registry, read: () => MoneyReading): void {
  const { gauge, counter } = readMetrics(registry, read)
  counter('sluice_money_takes_total', 'Calls that took money, or whose cost is booked.', ({ takes }) => takes)
  gauge('sluice_money_calls_open', 'Of them those under way.', ({ open }) => open)
  counter('sluice_money_overruns_total', 'Calls that cost more than their bound.', ({ overruns }) => overruns)
  counter('sluice_money_spent_usd_total', 'Charged for calls.', ({ spentNano }) => usdOfNano(spentNano))
  new Counter({
    name: 'sluice_money_refusals_total',
    help: 'Calls that were not paid, by who refused.',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [source, count] of Object.entries(read().refusals)) this.inc({ source }, count)
    },
  })
  gauge('sluice_money_calls_waiting', 'Calls that wait for money.', ({ waiting }) => waiting)
  gauge('sluice_money_held_usd', 'Lent money that no call holds.', ({ heldNano }) => usdOfNano(heldNano))
  counter('sluice_money_lends_total', 'Requests for money that were answered.', ({ lends }) => lends)
  counter('sluice_money_lend_seconds_total', 'Seconds that they took.', ({ lendS }) => lendS)
  counter(
    'sluice_money_flushes_total',
    'Batches of the journal that came into the books.',
    ({ flushes }) => flushes,
  )
  counter('sluice_money_flushed_entries_total', 'Entries in them.', ({ flushedEntries }) => flushedEntries)
  gauge('sluice_money_flush_lag_seconds', 'How far the books are behind.', ({ flushLagS }) => flushLagS)
  counter('sluice_money_give_backs_total', 'Times that money went back.', ({ giveBacks }) => giveBacks)
  gauge(
    'sluice_money_journal_broken',
    '1 while the journal cannot be written, and no call is paid.',
    ({ isJournalBroken }) => Number(isJournalBroken),
  )
}
