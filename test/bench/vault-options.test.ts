import { spawnSync } from 'node:child_process'
import t from 'tap'
import { readVaultOptions } from '../../bench/vault/options.ts'
import { writes } from '../../bench/vault/writes.ts'
import { ROOT } from '../support/source.ts'

t.test('the default is 300 secrets a second for ten seconds', async (t) => {
  t.match(readVaultOptions([]), { seconds: 10, repeats: 3, ratePerS: 300, json: null })
})

t.test('refuses more new secrets than a vault holds before anything starts', async (t) => {
  t.match(readVaultOptions(['--rate', '1000', '--repeats', '1']), { ratePerS: 1_000 })
  t.match(
    readVaultOptions(['--rate', '1000', '--repeats', '2']),
    /^--duration, --repeats and --rate make 30000 writes, more than 20000$/,
  )
  const ran = spawnSync(process.execPath, [`${ROOT}dist/bench/vault.js`, '--rate', '5000'], {
    encoding: 'utf8',
  })
  t.same([ran.status, ran.stdout], [2, ''])
})

t.test(
  'half of the writes create names, half replace earlier values; both have short and long values',
  async (t) => {
    const made = new Map<string, number>()
    let replaced = 0
    for (const { path, body } of writes('key', { series: 'a', count: 400 })) {
      if (made.has(path)) replaced++
      const { value } = JSON.parse(body) as { readonly value: string }
      made.set(path, value.length)
    }
    t.same([made.size, replaced], [200, 200])
    const lengths = [...made.values()]
    t.same(
      [...new Set(lengths)].sort((a, b) => a - b),
      [64, 4_096],
    )
  },
)
