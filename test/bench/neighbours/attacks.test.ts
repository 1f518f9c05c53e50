import t from 'tap'
import { ATTACK_BYTES_PER_S, attackRate } from '../../../bench/neighbours/attacks.ts'
import { ATTACK_NAMES, CASE_NAMES, textOf } from '../../../bench/neighbours/names.ts'
import { sharingChecks } from '../../../bench/neighbours/sharing.ts'
import { readNeighboursOptions } from '../../../bench/neighbours/options.ts'
import { attackChecks, attackNote, attackRows, RATIO_MAX } from '../../../bench/neighbours/rows.ts'
import type { AttackRepeat } from '../../../bench/neighbours/measure.ts'
import { VICTIM_NAMES, type VictimName, type VictimResults } from '../../../bench/neighbours/victims.ts'
import type { LoadResult } from '../../support/load/load-plan.ts'

/** A victim's load of 100 calls, so many of which were good. */
function result(p99: number, good = 100): LoadResult {
  const latency = { p50: 1, p90: 1, p99, p99_9: p99, max: p99, mean: 1, byPercent: {} }
  return {
    statuses: good === 100 ? { 200: 100 } : { 200: good, 500: 100 - good },
    requests: 100,
    requestsWithWarmUp: 100,
    measuredMs: 1_000,
    latency,
    latencyFromSent: latency,
    generatorLate: { p50: 0, p99: 0, max: 0 },
    unsent: 0,
    generatorCores: 0.01,
    failures: [],
    sockets: [],
    rows: [],
    answerBytes: 0,
    sentBytes: 0,
  }
}

const all = (one: LoadResult): VictimResults =>
  Object.fromEntries(VICTIM_NAMES.map((name) => [name, one])) as VictimResults

function repeat(beside: Partial<Record<VictimName, LoadResult>> = {}, frontBytes = 1e8): AttackRepeat {
  return {
    beside: { ...all(result(5)), ...beside },
    control: all(result(5)),
    attackPerS: 10,
    attackStatuses: { 0: 1, 400: 9 },
    attackCores: 0.25,
    frontBytes,
  }
}

t.test('an attack sends at most a megabyte of requests per second, or its own rate', async (t) => {
  const request = (bytes: number) => ({ method: 'POST', path: '/', headers: {}, body: 'x'.repeat(bytes) })
  t.equal(attackRate({}, [request(ATTACK_BYTES_PER_S / 2 - 100)]), 2)
  t.equal(attackRate({}, [request(2 * ATTACK_BYTES_PER_S)]), 1)
  t.equal(attackRate({ perS: 300 }, [request(10)]), 300)
  t.ok(attackRate({}, [request(1)]) <= 2_000)
})

t.test('judges the victim whose p99 rose most, by the median of the repeats', async (t) => {
  const repeats = [10, 2, 4].map((factor) => repeat({ upload: result(5 * factor) }))
  const [latency, memory] = attackChecks({ name: 'range', repeats }, 2e8)
  t.match(latency, {
    text: 'range: p99 of upload, over beside a burner',
    found: { median: 4 },
    at_most: RATIO_MAX,
    is_met: false,
    repeats: 3,
  })
  t.match(memory, { found: { median: 100 }, at_most: 200, is_met: true, repeats: null })
})

t.test("a victim's failed call under attack does not count as a quick answer", async (t) => {
  const [latency, memory] = attackChecks({ name: 'range', repeats: [repeat({ list: result(1, 99) })] }, 2e8)
  t.match(latency, { failed: 1, is_met: false })
  t.match(memory, { is_met: true })
  t.equal(attackChecks({ name: 'range', repeats: [repeat({}, 3e8)] }, 2e8)[1]?.is_met, false)
})

t.test('each attack has a note, and each victim has rows under attack and next to the burner', async (t) => {
  const rows = attackRows({ name: 'audit', repeats: [repeat()] })
  t.equal(rows.length, 2 * VICTIM_NAMES.length)
  t.ok(rows.some((row) => row.case === 'release beside audit'))
  const note = attackNote({ name: 'audit', repeats: [repeat()] })
  t.match(
    note,
    /^audit: releases that are refused, .*; 10 a second, answered 400; the node spends 0.25 cores on it$/,
  )
})

t.test('every attack runs unless some are named', async (t) => {
  t.match(readNeighboursOptions([]), { only: CASE_NAMES, seconds: 16, repeats: 3, fronts: 1 })
  t.match(readNeighboursOptions(['--only', 'egress,range']), { only: ['range', 'egress'] })
  t.match(readNeighboursOptions(['--only', 'nothing']), /nothing/)
  t.ok(ATTACK_NAMES.every((name) => textOf(name) !== ''))
})

t.test('during an attack by a stream of the same endpoint, the median latency is checked too', async (t) => {
  const slow = result(5)
  const repeats = [repeat({ chat: { ...slow, latency: { ...slow.latency, p50: 4 } } })]
  const checks = attackChecks({ name: 'stream-events-1', repeats }, 2e8)
  t.match(checks[0], {
    text: 'stream-events-1: p50 of chat, over beside the same past Sluice',
    is_met: false,
  })
  t.match(checks[1], { text: /p99/, is_met: true })
})

t.test('two organizations lose no throughput by sharing, and a single one is not held back', async (t) => {
  const met = { share: 0.97, heldAlone: 0, failed: 0 }
  t.same(
    sharingChecks([met]).map((one) => one.is_met),
    [true, true],
  )
  const missed = [
    { ...met, share: 0.9 },
    { ...met, heldAlone: 1 },
    { ...met, failed: 1 },
  ]
  t.same(
    missed.map((one) => sharingChecks([one]).map((check) => check.is_met)),
    [
      [false, true],
      [true, false],
      [false, false],
    ],
  )
})
