import t from 'tap'
import { figureCheck } from '../../../bench/figure.ts'
import { spread } from '../../../bench/statistics.ts'
import type { TransferSample } from '../../../bench/transfers/measure.ts'
import {
  bytesText, memoryText, transferRatio, transferRow, transferTables, type TransferReport,
} from '../../../bench/transfers/report.ts'

const sample = (mbPerS: number, more: Partial<TransferSample> = {}): TransferSample => ({
  mbPerS,
  filesPerS: 1,
  p50Ms: 1,
  p99Ms: 1,
  mainPerGb: 1,
  threadsPerGb: 1,
  restPerGb: 0,
  serverCores: 1,
  generatorCores: 0.1,
  isGeneratorLimit: false,
  idle: { front: 50e6 },
  peak: { front: 70e6, postgres: 5e6 },
  sharedOnceGrowth: 0,
  loopP99Ms: null,
  failed: 0,
  failures: [],
  alive: 0,
  ...more,
})
const ask = { connections: 8, payloadBytes: 100e6 }

t.test('ratios are taken inside a repeat, so that a slow machine slows both sides', async (t) => {
  const [over, under] = [[100, 10, 60].map((mb) => sample(mb)), [200, 20, 120].map((mb) => sample(mb))]
  t.same(transferRatio(over, under, (one) => one.mbPerS), { median: 0.5, min: 0.5, max: 0.5 })
})

t.test('a figure is met from its own side of the bound, the bound included', async (t) => {
  const isMet = (found: number, bound: { atLeast: number } | { atMost: number }): boolean =>
    figureCheck('a', spread([found]), { bound, samples: [{ failed: 0 }] }).isMet
  t.same([isMet(0.35, { atLeast: 0.35 }), isMet(0.34, { atLeast: 0.35 })], [true, false])
  t.same([isMet(200, { atMost: 200 }), isMet(201, { atMost: 200 })], [true, false])
})

t.test('a figure of transfers that failed is missed, and so is one that nothing was measured for', async (t) => {
  const bound = { atMost: 1 }
  t.equal(figureCheck('a', spread([0]), { bound, samples: [{ failed: 0 }, { failed: 1 }] }).isMet, false)
  t.equal(figureCheck('a', spread([0]), { bound, samples: [] }).isMet, false)
  t.equal(figureCheck('a', spread([]), { bound, samples: [{ failed: 0 }] }).isMet, false)
})

t.test('growth is of all processes together, over what they had before', async (t) => {
  t.same(transferRow('a', ask, [sample(1)]).growthMb, { median: 25, min: 25, max: 25 })
})

t.test('a generator that was the limit in one repeat marks the row', async (t) => {
  t.equal(transferRow('a', ask, [sample(1), sample(1, { isGeneratorLimit: true })]).isGeneratorLimit, true)
})

t.test('the report names each check with its figure and bound, and why transfers failed', async (t) => {
  const row = transferRow('sluice', ask, [sample(1, { failed: 2, failures: ['503 busy'] })])
  const report: TransferReport = {
    scenario: 'uploads',
    at: '',
    machine: { cpu: 'a', cores: 2, memoryGb: 1, kernel: '1', node: 'v20', glibc: '2', loadBefore: 0, stolenPerMille: 0 },
    settings: { repeats: 1 },
    tables: [{ title: 'speed', rows: [row] }],
    facts: ['a fact'],
    checks: [
      figureCheck('quick', spread([0.4]), { bound: { atLeast: 0.35 }, samples: [{ failed: 0 }] }),
      figureCheck('small', spread([300]), { bound: { atMost: 200 }, samples: [{ failed: 2 }] }),
    ],
    notes: ['a note'],
  }
  const text = transferTables(report)
  t.match(text, /^MET {4}quick: 0\.400, at least 0\.35$/m)
  t.match(text, /^MISSED small: 300\.000, at most 200, 2 failed$/m)
  t.match(text, /^failed: sluice, 8 × 100 MB: 503 busy$/m)
  t.match(text, /^a fact$/m)
})

t.test('sizes and memory are printed in units that are read at a glance', async (t) => {
  t.same([bytesText(1e3), bytesText(64e3), bytesText(100e6)], ['1 KB', '64 KB', '100 MB'])
  t.equal(memoryText({ runner: 40e6, front: 90e6 }), 'front 90, runner 40')
})
