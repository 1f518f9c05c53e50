import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { optionReader } from '../../../bench/options.ts'
import type { Scenario } from '../../../bench/scenarios.ts'
import { runBench } from '../../../bench/suite/main.ts'
import { ROOT } from '../../support/source.ts'

const TINY: Scenario = {
  name: 'tiny', text: 'whether a planted slowdown is found', help: '', hasPeers: false, suite: { args: [], seconds: 5 },
  options: optionReader({ numbers: { slower: [0, 100, 0] }, lists: {}, flags: [] }, (given) => ({ slower: given.number('slower') })),
}

async function bench(...args: readonly string[]): Promise<{ readonly code: number; readonly file: string; readonly printed: string }> {
  const printed: string[] = []
  const code = await runBench(args, {
    scenarios: [TINY], screen: { write: () => true }, print: (text) => printed.push(text), installPeers: () => undefined,
    program: () => [`${ROOT}dist/test/support/tiny-scenario.js`], resultsFolder: mkdtempSync(join(tmpdir(), 'sluice-planted-')),
  }, new AbortController().signal)
  const text = printed.join('\n')
  return { code, printed: text, file: /written: (\S+results\.json)/.exec(text)?.[1] ?? '' }
}

t.setTimeout(120_000)

t.test('of real servers, a planted slowdown of 30 % ends the run with 1, and the same again with 0', { timeout: 120_000 }, async (t) => {
  const saved = await bench()
  t.equal(saved.code, 0)
  const same = await bench('--baseline', saved.file, '--fail-on', '10%')
  t.equal(same.code, 0, same.printed)
  t.match(same.printed, /^1 figures compared, none worse by more than 10 %$/m)
  const slower = await bench('tiny', '--slower', '30', '--baseline', saved.file, '--fail-on', '10%')
  t.equal(slower.code, 1, slower.printed)
  t.match(slower.printed, /^WORSE {2}tiny, burning, sluice: CPU a request, over node: \d+ % more than before \(95 % \d+ % to \d+ %\)$/m)
})
