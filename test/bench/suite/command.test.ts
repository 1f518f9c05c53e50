import t from 'tap'
import { optionReader } from '../../../bench/options.ts'
import { SCENARIOS, type Scenario } from '../../../bench/scenarios.ts'
import { helpText, readCommand, type Command } from '../../../bench/suite/command.ts'

const scenario = (
  name: string,
  numbers: Record<string, readonly [number, number, number]>,
  isInSuite = true,
): Scenario => ({
  name,
  text: `what ${name} costs`,
  help: `options of ${name}`,
  hasPeers: false,
  options: optionReader(
    {
      numbers,
      lists: { against: name === 'a' ? ['x'] : ['x', 'y'] },
      flags: name === 'b' ? ['all'] : [],
      words: ['target', 'key'],
    },
    (given) => ({ all: Object.keys(numbers).map((one) => given.number(one)) }),
  ),
  suite: isInSuite ? { args: ['--duration', '1'], seconds: 1 } : null,
})
const LIST = [
  scenario('a', { duration: [1, 9, 1] }),
  scenario('b', { duration: [1, 9, 1], repeats: [1, 9, 1] }),
  scenario('c', { rate: [1, 9, 1] }, false),
]
const read = (...args: readonly string[]): Command | string => readCommand(args, LIST)
const runs = (...args: readonly string[]): unknown => {
  const command = read(...args)
  return typeof command === 'string' ? command : command.runs.map((one) => [one.scenario.name, ...one.args])
}

t.test('without names all scenarios run, shortened; the given options override theirs', async (t) => {
  t.same(runs(), [
    ['a', '--duration', '1'],
    ['b', '--duration', '1'],
  ])
  t.same(runs('--duration', '3'), [
    ['a', '--duration', '1', '--duration=3'],
    ['b', '--duration', '1', '--duration=3'],
  ])
})

t.test('named scenarios run in full, each once, and each gets only the options that it knows', async (t) => {
  t.same(runs('c', 'a', 'a'), [['c'], ['a']])
  t.same(runs('a', 'b', '--repeats', '2', '--all', '--duration=4'), [
    ['a', '--duration=4'],
    ['b', '--repeats=2', '--all', '--duration=4'],
  ])
})

t.test('a scenario gets only the peers that it knows', async (t) => {
  t.same(runs('a', 'b', '--against', 'y,x'), [
    ['a', '--against=x'],
    ['b', '--against=y,x'],
  ])
  t.same(runs('a', 'b', '--against=y'), [['a'], ['b', '--against=y']])
})

t.test('the suite does not pass its own options to the scenarios', async (t) => {
  t.match(read('a', '--baseline', 'x.json', '--fail-on', '12.5%', '--json', 'y'), {
    baseline: 'x.json',
    failOn: 0.125,
    json: 'y',
    runs: [{ args: [] }],
  })
  t.match(read(), { baseline: null, failOn: 0.1, json: null, text: 'npm run bench' })
})

t.test('shows the typed command without keys, and only the origin of an address', async (t) => {
  const command = read('a', '--key', 'sk-secret', '--target=https://user:pass@host.example/x?token=1')
  t.match(command, { text: 'npm run bench -- a --key=… --target=https://host.example' })
  t.match(read('a', '--target', 'no address'), { text: 'npm run bench -- a --target=…' })
})

t.test('a page can be made from one saved run, or from two', async (t) => {
  t.match(read('--report', 'x.json'), { report: 'x.json', beside: null })
  t.match(read('--report', 'x.json', 'y.json'), { report: 'x.json', beside: 'y.json' })
  t.match(read('--report=x.json', 'y.json', 'z.json'), /^--report takes one file, or two$/)
})

const wrong = [
  [['a', '--against', 'x,y'], /^--against: no scenario that runs has 'y'; there are x$/],
  [['elsewhere'], /^there is no scenario 'elsewhere'; there are a, b, c$/],
  [['a', '--bogus'], /^Unknown option '--bogus'/],
  [['a', '--repeats', '2'], /^--repeats is an option of b alone$/],
  [['a', '--duration', '10'], /^a: --duration takes a whole number from 1 to 9, not '10'$/],
  [['--fail-on', '20%'], /^--fail-on says how much worse than --baseline FILE: it needs one$/],
  [['--baseline', 'x', '--fail-on', '10'], /^--fail-on takes a share as 10%, not '10'$/],
  [['--baseline', 'x', '--fail-on', '0%'], /^--fail-on takes a share as 10%, not '0%'$/],
  [['a', 'b', '--record', 'x'], /^--record takes the record of one scenario$/],
  [['a', '-h'], /^help$/],
] as const
for (const [args, line] of wrong) {
  t.test(`reports \`${args.join(' ')}\` in one line`, async (t) => {
    t.match(read(...args), line)
  })
}

t.test('no option takes a value in one scenario and is a flag in another', async (t) => {
  const texts = new Set(SCENARIOS.flatMap(({ options }) => options.texts))
  t.same(
    SCENARIOS.flatMap(({ options }) => options.flags).filter((name) => texts.has(name)),
    [],
  )
})

t.test('the help names every scenario, and lists each set of options once', async (t) => {
  const text = helpText()
  for (const { name, help } of SCENARIOS) {
    t.match(text, name)
    t.equal(text.split(help).length, 2)
  }
})
