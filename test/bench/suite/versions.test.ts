import t from 'tap'
import { versionsOf } from '../../../bench/suite/versions.ts'

t.test('a run reports the versions of its subjects, and of nothing else', async (t) => {
  const found = versionsOf(['sluice', 'typebox-0.34', 'node', 'direct'])
  t.same(Object.keys(found).sort(), ['@sinclair/typebox', 'node', 'sluice', 'typebox', 'undici'])
  t.match(found, { '@sinclair/typebox': /^0\.34\./, typebox: /^1\./, node: process.version })
})
