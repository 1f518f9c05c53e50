import { spawnSync } from 'node:child_process'
import t from 'tap'
import { readTransferOptions } from '../../../bench/transfers/options.ts'
import { ROOT } from '../../support/source.ts'

t.test('every option has a default, and the command line overrides it', async (t) => {
  t.match(readTransferOptions([]), {
    repeats: 3,
    connections: 8,
    payloadBytes: 100e6,
    crowd: 100,
    json: null,
  })
  t.match(
    readTransferOptions([
      '--repeats',
      '1',
      '--payload=2MB',
      '--only',
      'sluice,nginx',
      '--sections',
      'tiny,speed',
    ]),
    {
      repeats: 1,
      payloadBytes: 2e6,
      only: ['nginx', 'sluice'],
      sections: ['speed', 'tiny'],
    },
  )
})

t.test('sections that take long run only when they are requested, by name or all together', async (t) => {
  const sections = (...args: readonly string[]): readonly string[] => {
    const options = readTransferOptions(args)
    return typeof options === 'string' ? [options] : options.sections
  }
  t.equal(sections().includes('s3'), false)
  t.same(sections('--sections', 's3'), ['s3'])
  t.equal(sections('--all').includes('s3'), true)
})

const wrong = [
  [['--bogus'], /^Unknown option '--bogus'[^\n]*$/],
  [['stray'], /^Unexpected argument 'stray'[^\n]*$/],
  [['--repeats', '0'], /^--repeats takes a whole number from 1 to 100, not '0'$/],
  [['--payload', '101MB'], /^--payload takes a whole number from 1000 to 100000000, not '101MB'$/],
  [['--only', 'apache'], /^--only takes some of nginx,busboy,tus,sluice, not 'apache'$/],
  [['--sections', 'naps'], /^--sections takes some of speed,[^\n]*, not 'naps'$/],
  [['--help'], /^help$/],
] as const
for (const [args, line] of wrong) {
  t.test(`reports \`${args.join(' ')}\` in one line`, async (t) => {
    t.match(readTransferOptions(args), line)
  })
}

for (const scenario of ['uploads', 'downloads']) {
  t.test(`${scenario} with an unknown option reports it and starts nothing`, async (t) => {
    const ran = spawnSync(process.execPath, [`${ROOT}dist/bench/${scenario}.js`, '--bogus'], {
      encoding: 'utf8',
    })
    t.same([ran.status, ran.stdout], [2, ''])
    t.match(ran.stderr, /^Unknown option '--bogus'[^\n]*\n$/)
  })
}
