import t from 'tap'
import { KEYS_CACHED_MAX } from '../../../src/schemas/keys/key-limits.ts'
import { KnownKeys } from '../../../src/server/access/known-keys.ts'
import { testKey } from '../../support/keys/key-store.ts'

t.test(
  'a workspace that is written in a loop costs a front no look through all the keys that it knows',
  (t) => {
    const known = new KnownKeys(() => 0)
    const { record } = testKey()
    for (let nth = 0; nth < KEYS_CACHED_MAX; nth++)
      known.keep({ ...record, hash: `h${nth}`, workspaceId: `w${nth}`, defaultWorkspaceId: `w${nth}` })
    const began = performance.now()
    for (let nth = 0; nth < 2_000; nth++) known.forget('workspace/w1')
    // Walks would take ten seconds.
    t.ok(performance.now() - began < 1_000)
    t.equal(known.find('h1'), undefined)
    t.ok(known.find('h2'))
    t.end()
  },
)
