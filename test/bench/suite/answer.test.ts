import t from 'tap'
import { SCENARIOS } from '../../../bench/scenarios.ts'
import { commandOrAnswer } from '../../../bench/suite/answer.ts'

const stated = (...args: readonly string[]) => {
  const found = commandOrAnswer(args)
  return 'code' in found ? [found.code, found.text] : 'runs'
}

const MISSPELT = [
  ['embedings', 'embeddings'],
  ['latancy', 'latency'],
  ['upload', 'uploads'],
  ['Soak', 'soak'],
] as const
for (const [typed, meant] of MISSPELT) {
  t.test(`reports '${typed}' with the nearest scenario`, async (t) => {
    t.same(stated(typed), [2, `there is no scenario '${typed}'. Nearest: \`${meant}\`.`])
  })
}

t.test('reports a name without a near match with the list of all names', async (t) => {
  const all = SCENARIOS.map(({ name }) => name).join(', ')
  for (const name of ['nothing-alike', 'x'.repeat(100_000), '../../etc/passwd', ''])
    t.same(stated(name), [2, `there is no scenario '${name}'; there are ${all}`])
})

t.test('reports an unknown option with the nearest ones, in one line', async (t) => {
  t.same(stated('embeddings', '--repeat', '3'), [
    2,
    "Unknown option '--repeat'. Nearest: `--repeats`, `--report`.",
  ])
  t.same(stated('--sweeep'), [2, "Unknown option '--sweeep'. Nearest: `--sweep`."])
  t.match(stated('--nothing-alike'), [2, /^Unknown option '--nothing-alike'[^\n]*$/])
})

t.test('help is printed before any fault is reported, for all scenarios or for the named ones', async (t) => {
  t.match(stated('--help'), [0, /^npm run bench -- \[<scenario>…\] \[options\]\n/])
  const [, text = ''] = stated('uploads', '-h', '--repeats', 'many')
  t.match(text, /^npm run bench -- uploads \[options\]\n\n {2}uploads {2}/)
  t.notMatch(text, /^ {2}embeddings/m)
  t.match(stated('deployment', '--help'), [0, '--target https://sluice.example'])
  t.match(stated('--sweep', '--help'), [0, /^ {2}sweep/m])
  t.same(stated('embedings', '--help'), [2, "there is no scenario 'embedings'. Nearest: `embeddings`."])
})

t.test('a command without a fault runs', async (t) => {
  t.equal(stated('embeddings', '--repeats', '5'), 'runs')
  t.equal(stated(), 'runs')
})
