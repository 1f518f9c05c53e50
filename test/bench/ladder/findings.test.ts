import t from 'tap'
import {
  explainedShare,
  ladderChecks,
  ladderNotes,
  ladderRows,
  stepsOf,
} from '../../../bench/ladder/findings.ts'
import { UNLOGGED } from '../../../bench/ladder/rungs.ts'
import type { ResultRow } from '../../../bench/record.ts'
import { scenarioComparisons } from '../../../bench/report/comparisons.ts'
import { rungTable } from '../../../bench/report/rung-table.ts'
import { compare } from '../../../bench/suite/baseline.ts'
import { resultsFile, sampleRecord, scenarioRecord } from '../../support/load/bench-records.ts'

const SUBJECTS = [
  { name: 'relay', note: 'r', below: null },
  { name: 'sluice-to-head', note: 'h', below: 'relay' },
  { name: 'sluice-to-access', note: 'a', below: 'sluice-to-head' },
  { name: 'sluice', note: 's', below: 'sluice-to-access' },
]
const TOP = 'sluice-to-access'
/** How slow the machine is in each repeat. */
const DAYS = [1, 1.5, 0.9]

/** @param headUs price of the first part */
function rowsWith(headUs: number, othersUs = 2): readonly ResultRow[] {
  const prices = { relay: 30, 'sluice-to-head': 30 + headUs, [TOP]: 31 + headUs, sluice: 33 + headUs }
  const samples = Object.entries(prices).map(
    ([name, us]) =>
      [
        name,
        DAYS.map((by) => sampleRecord(us * by, { figures: { others_us: othersUs * by, user_us: us * by } })),
      ] as const,
  )
  return ladderRows(new Map(samples), 48)
}

t.test('the cost of a part is the difference from the part below, within each repeat', async (t) => {
  const steps = stepsOf(rowsWith(5), SUBJECTS)
  t.match(steps, [
    { subject: 'sluice-to-head', below: 'relay', cpuUs: { median: 5 } },
    { subject: TOP, below: 'sluice-to-head', cpuUs: { median: 1 } },
    { subject: 'sluice', below: TOP, cpuUs: { median: 2 } },
  ])
  t.same(stepsOf(rowsWith(5).slice(1), SUBJECTS).length, 2)
})

t.test('the price of a part in each case is computed from the rows of that case', async (t) => {
  const others = rowsWith(9).map((row) => ({ ...row, case: '100 streams, per event' }))
  const prices = stepsOf([...rowsWith(5), ...others], SUBJECTS)
    .filter(({ subject }) => subject === 'sluice-to-head')
    .map((step) => [step.case, step.cpuUs.median])
  t.same(prices, [
    ['48 connections', 5],
    ['100 streams, per event', 9],
  ])
})

t.test('the check is missed unless the parts and other processes explain the difference', async (t) => {
  t.equal(explainedShare(rowsWith(5), TOP), 1)
  t.equal(explainedShare(rowsWith(5).slice(1), TOP), null)
  const met = (rows: readonly ResultRow[], dimensions: number): readonly boolean[] =>
    ladderChecks({ rows, steps: stepsOf(rows, SUBJECTS), top: TOP, dimensions }).map((one) => one.is_met)
  t.same(met(rowsWith(5), 8), [true, true])
  t.same(met(rowsWith(5, 4), 8), [false, true])
  t.same(met(rowsWith(9), 8), [true, false])
  t.same(met(rowsWith(9), 1_536), [true], 'a part of a large answer may cost what its bytes do')
})

t.test('the cost of the request log is the difference from a node without it, with a bound', async (t) => {
  const subjects = [
    ...SUBJECTS.slice(0, 3),
    { name: UNLOGGED, below: TOP },
    { name: 'sluice', below: UNLOGGED },
  ]
  const checked = (logUs: number) => {
    const prices = { relay: 30, 'sluice-to-head': 31, [TOP]: 32, [UNLOGGED]: 33, sluice: 33 + logUs }
    const samples = Object.entries(prices).map(
      ([name, us]) =>
        [name, DAYS.map((by) => sampleRecord(us * by, { figures: { others_us: by } }))] as const,
    )
    const rows = ladderRows(new Map(samples), 48)
    return ladderChecks({ rows, steps: stepsOf(rows, subjects), top: TOP, dimensions: 8 }).find(({ text }) =>
      text.includes('request log'),
    )
  }
  t.match(checked(1.9), { is_met: true })
  t.match(checked(2.1), { is_met: false })
})

t.test('a note gives each part with its confidence interval', async (t) => {
  const rows = rowsWith(5)
  const notes = ladderNotes({ rows, steps: stepsOf(rows, SUBJECTS), top: TOP })
  t.equal(notes[0], 'sluice-to-head: +5.0 µs of CPU over relay (95 % +4.5 to +7.5)')
  t.match(notes.at(-1), / 100 % of the difference/)
})

t.test('the page has a table of the parts, and does not count a rung as the product', async (t) => {
  const record = scenarioRecord(rowsWith(5), {
    subjects: SUBJECTS.map(({ name, note, below }) => ({ name, note, ...(below === null ? {} : { below }) })),
  })
  const text = rungTable(record)?.text.replace(/\s+/g, ' ') ?? ''
  t.match(text, /<th scope="row">sluice-to-head<\/th><td>relay<\/td><td class="n"><b>\+5\.00<\/b>/)
  t.match(text, 'user µs')
  t.equal(rungTable(scenarioRecord(rowsWith(5))), null)
  const pairs = scenarioComparisons(record).map(({ over, under }) => `${over} ${under}`)
  t.same([...new Set(pairs)], ['sluice relay'])
})

t.test('a later run reports a part that became dearer, relative to the relay of each run', async (t) => {
  const file = (headUs: number) => resultsFile([scenarioRecord(rowsWith(headUs))])
  t.same(compare(file(5), file(5), 0.1).worse, [])
  t.match(
    compare(file(5), file(25), 0.1).worse[0],
    /^ladder, 48 connections, sluice-to-head: CPU per request, over relay/,
  )
})
