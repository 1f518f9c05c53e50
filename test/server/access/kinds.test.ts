import t from 'tap'
import { textOf } from '../../../src/schemas/failures.ts'
import { createAccess } from '../../../src/server/access/access.ts'
import type { Operation } from '../../../src/server/operations/define.ts'
import type { KeyKind } from '../../../src/schemas/keys/api-keys.ts'
import { testFeed, testKey, testKeyStore } from '../../support/keys/key-store.ts'

const access = createAccess({ keys: testKeyStore(), feed: testFeed(), graceMs: 0, now: () => 0 })

function textFor(kinds: readonly KeyKind[], kind: KeyKind): string | null {
  const failure = access.checkKey(
    { access: { keys: kinds } } as unknown as Operation,
    testKey({ kind }).record,
  )
  return failure === null ? null : textOf(failure)
}

t.test('a key of an accepted kind passes', async (t) => {
  t.equal(textFor(['inference', 'intern'], 'intern'), null)
})

t.test('a refusal for a wrong kind of key names the right kinds', async (t) => {
  t.equal(textFor(['management'], 'inference'), 'This operation needs a management key.')
  t.equal(
    textFor(['inference', 'intern'], 'management'),
    'This operation needs an inference key or an intern key.',
  )
})
