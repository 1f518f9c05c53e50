/**
 * Runs each block of the README and of the pages for users, as a reader does who pastes them in their order.
 * The proof `readme` begins with the same, so it has no short form among the tests: `npm run prove -- readme
 * --short` runs one.
 */
import t from 'tap'
import { NO_OPENSSL } from '../support/wire/certificate.ts'
import { USER_PAGES } from '../support/pages.ts'
import { blocksOf } from './blocks.ts'
import { startReader } from './stand.ts'

t.setTimeout(1_100_000)

t.test('each block works, in the order of the contents', { skip: NO_OPENSSL }, async (t) => {
  const reader = await startReader(t)
  t.same((await reader.run(USER_PAGES.flatMap(({ text, path }) => blocksOf(text, path)))).failures, [])
})
