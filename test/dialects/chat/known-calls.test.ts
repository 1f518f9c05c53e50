import t from 'tap'
import { TOOLS_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { KnownCalls, type NamedCall } from '../../../src/dialects/chat/tool-calls.ts'

t.test('a call whose fragments have ever new indexes uses no more memory', async (t) => {
  const known = new KnownCalls<NamedCall>()
  const call = { nth: 0, index: null, id: null, name: null }
  const at = (index: number, id = 'a') => ({ index, id, name: '' })
  for (let index = 0; index < 3 * TOOLS_MAX; index++) {
    t.equal(known.of(at(index)), index === 0 ? null : call)
    known.remember(call, at(index))
  }
  t.equal(known.of(at(TOOLS_MAX, '')), call)
  t.equal(known.of(at(3 * TOOLS_MAX - 1, '')), null, 'its index was not kept')
})
