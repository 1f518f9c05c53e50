import t from 'tap'
import { versionsOf } from '../../../bench/suite/versions.ts'

t.test('a run tells the versions of what it compared with, and of nothing else', async (t) => {
  const found = versionsOf(['sluice', 'typebox-0.34', 'node', 'direct'])
  t.same(Object.keys(found).sort(), ['@sinclair/typebox', 'node', 'sluice', 'typebox', 'undici'])
  t.match(found, { '@sinclair/typebox': /^0\.34\./, typebox: /^1\./, node: process.version })
})
