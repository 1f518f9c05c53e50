import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { CHART_DIMENSIONS, CPU_BOUNDS } from '../../bench/embeddings/bounds.ts'
import { ratioFigure } from '../../bench/report/figures.ts'
import { readEmbeddingsOptions } from '../../bench/embeddings/options.ts'
import { optionReader } from '../../bench/options.ts'
import { scenarioOf, SCENARIOS } from '../../bench/scenarios.ts'
import { helpText } from '../../bench/suite/command.ts'
import { ROOT } from '../support/source.ts'

t.test('each scenario is a program, and takes the options that the suite gives it', async (t) => {
  for (const { name, options, suite, needs = [] } of SCENARIOS) {
    t.ok(existsSync(`${ROOT}bench/${name}.ts`), name)
    t.type(options(needs), 'object', name)
    if (suite !== null) t.type(options(suite.args), 'object', name)
  }
  t.equal(new Set(SCENARIOS.map(({ name }) => name)).size, SCENARIOS.length)
  t.equal(scenarioOf('apache'), null)
})

t.test('the whole suite takes the time that the page on the bench states', async (t) => {
  const minutes = SCENARIOS.reduce((sum, { suite }) => sum + (suite?.seconds ?? 0), 0) / 60
  t.equal(Math.round(minutes), 12)
  t.match(
    readFileSync(`${ROOT}docs/operate/bench.md`, 'utf8'),
    /every scenario, shortened: about twelve minutes on two cores/,
  )
  t.match(helpText(), /about twelve minutes/)
})

t.test('the chart of the README uses the bounds of the bench', async (t) => {
  const readme = readFileSync(`${ROOT}README.md`, 'utf8')
  for (const { over, atMost } of CPU_BOUNDS) {
    const line = readme.split('\n').find((one) => one.startsWith(`  over ${over} `))
    t.match(line, `(at most ${ratioFigure(atMost(CHART_DIMENSIONS))}: `)
  }
  t.match(readEmbeddingsOptions([]), { dimensions: CHART_DIMENSIONS })
})

const read = optionReader(
  {
    numbers: { payload: [1, 5e6, 1], rate: [1, 9, 1] },
    lists: {},
    flags: ['all'],
    counts: { fronts: [1, 8, [1]] },
  },
  (given) => ({
    payload: given.number('payload'),
    rate: given.number('rate'),
    fronts: given.counts('fronts'),
    json: given.json,
  }),
)

t.test('sizes have units, lists of counts are sorted, and the record has two option names', async (t) => {
  t.match(read([]), { payload: 1, fronts: [1], json: null })
  t.match(read(['--payload', '2MB', '--fronts', '4,1,4', '--record', 'a']), {
    payload: 2e6,
    fronts: [1, 4],
    json: 'a',
  })
  t.match(read(['--payload=64kb', '--json=b']), { payload: 64e3, json: 'b' })
  t.match(read(['--rate', '1MB']), /^--rate takes a whole number from 1 to 9, not '1MB'$/)
  t.match(read(['--fronts', '1,9']), /^--fronts takes a whole number from 1 to 8, not '9'$/)
  t.match(read(['--fronts', ',']), /^--fronts takes a whole number/)
})
