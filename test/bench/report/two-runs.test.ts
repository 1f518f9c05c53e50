import t from 'tap'
import { twoRunsSection } from '../../../bench/report/two-runs.ts'
import { resultsFile, rowRecord, scenarioRecord } from '../../support/load/bench-records.ts'
import type { ResultsFile } from '../../../bench/record.ts'

const run = (cpuUs: readonly number[], name = 'b'): ResultsFile =>
  resultsFile([scenarioRecord([rowRecord('target', cpuUs, { head: { case: name } })])])
const textOf = (results: ResultsFile, other: ResultsFile): string =>
  twoRunsSection(results, other)
    .text.replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

t.test('a row of both runs has both figures, and the change between them with its interval', async (t) => {
  const text = textOf(run([30, 31, 29, 30]), run([20, 21, 19, 20]))
  t.match(text, /1 row in both runs/)
  t.match(text, /b target CPU µs\/request 30\.0 20\.0 1\.50 1\.\d\d–1\.\d\d/)
})

t.test('with few repeats a change has no interval', async (t) => {
  t.match(textOf(run([30]), run([20])), /CPU µs\/request 30\.0 20\.0 1\.50 –/)
})

t.test('reports when two runs have no row in common', async (t) => {
  t.match(textOf(run([30], 'b'), run([20], 'c')), /no row in common/)
})
