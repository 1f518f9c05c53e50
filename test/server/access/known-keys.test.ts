import t from 'tap'
import { KEYS_CACHED_MAX } from '../../../src/schemas/keys/key-limits.ts'
import { ok } from '../../../src/schemas/failures.ts'
import { createKnownKeys, knownKey } from '../../../src/server/access/known-keys.ts'
import { testFeed, testKey } from '../../support/keys/key-store.ts'

t.test('frequent changes of one workspace do not make a front search through all known keys', async (t) => {
  const feed = testFeed()
  const known = createKnownKeys({ feed, graceMs: 0, now: () => 0 })
  const { record } = testKey()
  for (let nth = 0; nth < KEYS_CACHED_MAX; nth++) {
    const workspaceId = `w${nth}`
    const made = knownKey({ ...record, hash: `h${nth}`, workspaceId, defaultWorkspaceId: workspaceId })
    await known.load({ id: `h${nth}`, read: async () => ok(made) })
  }
  // The time of this process alone: others may make it stand still meanwhile.
  const began = process.cpuUsage()
  for (let n = 0; n < 2_000; n++) feed.tell({ n, kind: 'workspace', id: 'w1' })
  const { user, system } = process.cpuUsage(began)
  // Walks would take ten seconds.
  t.ok(user + system < 1_000_000, `${user + system} us`)
  t.equal(known.find('h1'), undefined)
  t.ok(known.find('h2'))
})
