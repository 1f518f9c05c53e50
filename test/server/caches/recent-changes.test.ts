import t from 'tap'
import { RECENT_CHANGES_MAX, EVERYTHING, RecentChanges } from '../../../src/server/caches/recent-changes.ts'

t.test('a change after the start of a read invalidates only the values that it affects', async (t) => {
  const changes = new RecentChanges({ epoch: 3 })
  changes.begun()
  const start = changes.start()
  changes.add('a', 4)
  t.equal(changes.since(start, ['b', 'a']), 'named')
  t.equal(changes.since(start, ['b']), null)
  t.equal(changes.since(changes.start(), ['a']), null, 'a read that begins now has it')
  changes.add('b', 3)
  t.equal(changes.since(start, ['b']), null, 'the epoch of the start has it')
  changes.add(EVERYTHING, Infinity)
  t.equal(changes.since(start, ['c']), 'everything')
  t.equal(changes.since(start, ['a']), 'named')
})

t.test('when more changes occur than are remembered, every value counts as changed', async (t) => {
  const changes = new RecentChanges({ epoch: 0 })
  changes.begun()
  const start = changes.start()
  for (let n = 1; n <= RECENT_CHANGES_MAX; n++) changes.add(`name ${n}`, n)
  t.equal(changes.since(start, ['other']), null)
  t.equal(changes.since(start, ['name 1']), 'named')
  changes.add('one more', RECENT_CHANGES_MAX + 1)
  for (const name of ['name 1', 'one more', 'other']) t.equal(changes.since(start, [name]), 'everything')
})
