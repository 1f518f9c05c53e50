import t from 'tap'
import {
  numberOfRequestId,
  ownRequestId,
  prefixOfRequestId,
  requestIdPrefix,
} from '../../../src/schemas/requests/request-id.ts'

const PREFIXES = [0n, 35n, 2n ** 60n - 1n].map(requestIdPrefix)
const NUMBERS = [0, 1, 35, 36, 36 ** 7, 2 ** 31, 36 ** 8 - 1]

t.test('an id contains the prefix and the number that it was made from', async (t) => {
  for (const prefix of PREFIXES)
    for (const number of NUMBERS) {
      const id = ownRequestId(prefix, number)
      t.match(id, /^[a-z0-9]{20}$/)
      t.same([prefixOfRequestId(id), numberOfRequestId(id)], [prefix, number])
    }
})

t.test('an id of another form gives no number', async (t) => {
  const id = ownRequestId(requestIdPrefix(1n), 1)
  t.same(['', 'r-1', `${id}0`, id.slice(1)].map(numberOfRequestId), [null, null, null, null])
  for (const odd of ['A', 'Z', '-', '/', ':', '`', '{', ' ', 'é'])
    for (const at of [0, 11, 12, 19])
      t.equal(numberOfRequestId(id.slice(0, at) + odd + id.slice(at + 1)), null, `${odd} at ${at}`)
})
