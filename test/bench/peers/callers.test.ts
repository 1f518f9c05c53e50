import t from 'tap'
import { Callers, hold, settle, type Caller } from '../../../bench/peers/callers.ts'
import { newApiKey } from '../../../src/schemas/keys/api-keys.ts'

function callerOf(limitNano: number | null): Caller {
  const { key } = newApiKey('inference')
  const { caller } = new Callers([{ key, kind: 'inference', limitRpm: null, limitNano }]).enter(
    `Bearer ${key}`,
  )
  if (caller === null) throw new Error('the key is not known')
  return caller
}

t.test('running calls hold their maximum cost and release the unspent part', async (t) => {
  const caller = callerOf(100)
  t.same([hold(caller, 60), hold(caller, 60)], [null, { name: 'key_limit_exceeded' }])
  settle(caller, 60, { costNano: 30, tokens: 3 })
  t.same([hold(caller, 70), hold(caller, 1)?.name], [null, 'key_limit_exceeded'])
  settle(caller, 70, { costNano: 90, tokens: 1 })
  t.match(caller, { heldNano: 0, spentNano: 100, tokens: 4, calls: 2 })
})

t.test('without a budget every call is accepted', async (t) => {
  t.equal(hold(callerOf(null), 1e15), null)
})
