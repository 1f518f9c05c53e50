import t from 'tap'
import { HEARD_CHANGES_MAX } from '../../../src/schemas/keys/key-limits.ts'
import { EVERYTHING, HeardChanges } from '../../../src/server/caches/heard-changes.ts'

t.test('a change behind the start of a read overtakes what it touches, and nothing else', async (t) => {
  const heard = new HeardChanges({ epoch: 3 })
  heard.begun()
  const start = heard.start()
  heard.hear('a', 4)
  t.equal(heard.since(start, ['b', 'a']), 'named')
  t.equal(heard.since(start, ['b']), null)
  t.equal(heard.since(heard.start(), ['a']), null, 'a read that begins now has it')
  heard.hear('b', 3)
  t.equal(heard.since(start, ['b']), null, 'the epoch of the start has it')
  heard.hear(EVERYTHING, Infinity)
  t.equal(heard.since(start, ['c']), 'everything')
  t.equal(heard.since(start, ['a']), 'named')
})

t.test('more things than are remembered count as everything, and none is missed', async (t) => {
  const heard = new HeardChanges({ epoch: 0 })
  heard.begun()
  const start = heard.start()
  for (let n = 1; n <= HEARD_CHANGES_MAX; n++) heard.hear(`name ${n}`, n)
  t.equal(heard.since(start, ['other']), null)
  t.equal(heard.since(start, ['name 1']), 'named')
  heard.hear('one more', HEARD_CHANGES_MAX + 1)
  for (const name of ['name 1', 'one more', 'other']) t.equal(heard.since(start, [name]), 'everything')
})
