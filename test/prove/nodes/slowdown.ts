/** A planted slowdown is found against a saved run, and an equal run is not. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { optionReader } from '../../../bench/options.ts'
import type { Scenario } from '../../../bench/scenarios.ts'
import { runBench } from '../../../bench/suite/main.ts'
import { ROOT } from '../../support/source.ts'
import type { Program, Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/**
 * The planted slowdown, the reported one, and the number of runs of each; in short both are large enough for
 * any crowded machine.
 */
const WISH = {
  full: { slower: 30, failOn: 10, repeats: 8, rounds: 5 },
  short: { slower: 400, failOn: 100, repeats: 3, rounds: 1 },
}

const TINY: Scenario = {
  name: 'tiny',
  text: 'whether a planted slowdown is found',
  help: '',
  hasPeers: false,
  suite: { args: [], seconds: 5 },
  options: optionReader(
    { numbers: { slower: [0, 1_000, 0], repeats: [3, 20, 8] }, lists: {}, flags: [] },
    (given) => ({
      slower: given.number('slower'),
      repeats: given.number('repeats'),
    }),
  ),
}

interface Ran {
  readonly code: number
  /** Where its `results.json` is. */
  readonly file: string
  readonly printed: string
}

export const program: Program = {
  text: 'A planted slowdown of 30 % ends a bench with a baseline with 1, and the same again with 0',
  async run(proof) {
    const { slower, failOn, repeats, rounds } = proof.isShort ? WISH.short : WISH.full
    const folder = temporaryFolder(proof, 'slowdown')
    const given = ['--repeats', String(repeats)]
    const saved = await bench(folder, given)
    proof.check('a run is saved', saved.code === 0, saved.file === '' ? saved.printed : 'ended with 0')
    const against = [...given, '--baseline', saved.file, '--fail-on', `${failOn}%`]
    for (let round = 1; round <= rounds; round++) {
      const same = await bench(folder, against)
      reported(proof, `${round}: the same again ends with 0`, same, {
        code: 0,
        line: /^1 figures compared, none worse by more than \d+ %$/m,
      })
      const worse = await bench(folder, [...against, '--slower', String(slower)])
      const line =
        /^WORSE {2}tiny, burning, sluice: CPU per request, over node: \d+ % more than before \(95 % \d+ % to \d+ %\)$/m
      reported(proof, `${round}: one that is ${slower} % slower ends with 1`, worse, { code: 1, line })
    }
  },
}

function reported(
  proof: Proof,
  text: string,
  { code, printed }: Ran,
  wanted: { readonly code: number; readonly line: RegExp },
): void {
  const line = wanted.line.exec(printed)?.[0]
  proof.check(text, code === wanted.code && line !== undefined, line ?? `ended with ${code}: ${printed}`)
}

const NEVER = new AbortController().signal

async function bench(folder: string, args: readonly string[]): Promise<Ran> {
  const printed: string[] = []
  const code = await runBench(
    ['tiny', ...args],
    {
      scenarios: [TINY],
      screen: { write: () => true },
      print: (text) => printed.push(text),
      installPeers: async () => undefined,
      program: () => [`${ROOT}dist/test/support/load/tiny-scenario.js`],
      resultsFolder: mkdtempSync(join(folder, 'run-')),
    },
    { signal: NEVER, hurry: NEVER },
  )
  const text = printed.join('\n')
  return { code, printed: text, file: /written: (\S+results\.json)/.exec(text)?.[1] ?? '' }
}
