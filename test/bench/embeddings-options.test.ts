import { spawnSync } from 'node:child_process'
import t from 'tap'
import { readEmbeddingsOptions } from '../../bench/embeddings/options.ts'
import { ROOT } from '../support/source.ts'

t.test('every option has a default, and the command line overrides it', async (t) => {
  t.match(readEmbeddingsOptions([]), { seconds: 6, repeats: 5, latencyMs: 0, json: null })
  t.match(readEmbeddingsOptions(['--duration', '2', '--latency-ms=30', '--only', 'sluice,direct']), {
    seconds: 2,
    latencyMs: 30,
    only: ['direct', 'sluice'],
  })
})

t.test('the gateway always runs, whether it is named or not', async (t) => {
  const only = (...args: readonly string[]): readonly string[] => {
    const options = readEmbeddingsOptions(args)
    return typeof options === 'string' ? [options] : [...new Set(options.only)]
  }
  t.same(only('--against', 'nginx'), ['nginx', 'sluice'])
  t.same(only('--only', 'nginx'), ['nginx'])
})

const wrong = [
  [['--bogus'], /^Unknown option '--bogus'[^\n]*$/],
  [['stray'], /^Unexpected argument 'stray'[^\n]*$/],
  [['--duration', 'soon'], /^--duration takes a whole number from 1 to 600, not 'soon'$/],
  [['--repeats', '0'], /^--repeats takes a whole number from 1 to 100, not '0'$/],
  [
    ['--only', 'apache'],
    /^--only takes some of direct,nginx,haproxy,relay,lean-relay,sluice-ungoverned,sluice,fastify,node,portkey, not 'apache'$/,
  ],
  [['--help'], /^help$/],
] as const
for (const [args, line] of wrong) {
  t.test(`reports \`${args.join(' ')}\` in one line`, async (t) => {
    t.match(readEmbeddingsOptions(args), line)
  })
}

t.test('a scenario with an unknown option reports it and starts nothing', async (t) => {
  const ran = spawnSync(process.execPath, [`${ROOT}dist/bench/embeddings.js`, '--bogus'], {
    encoding: 'utf8',
  })
  t.same([ran.status, ran.stdout], [2, ''])
  t.match(ran.stderr, /^Unknown option '--bogus'[^\n]*\n$/)
})
