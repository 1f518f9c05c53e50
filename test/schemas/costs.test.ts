/** Cost of a call, to the nano-USD. C14. */
import t from 'tap'
import { chargedNano, costNano } from '../../src/schemas/money/costs.ts'
import { COST_NANO_MAX } from '../../src/schemas/money/money-limits.ts'

t.test('a cost is rounded up once, even if tokens times price exceeds the safe integers', (t) => {
  t.equal(costNano(1, { promptNanoPerMillion: 1, requestNano: 0 }), 1)
  t.equal(costNano(3, { promptNanoPerMillion: 20_000_000, requestNano: 7 }), 67)
  t.equal(costNano(0, { promptNanoPerMillion: 20_000_000, requestNano: 0 }), 0)
  t.equal(costNano(33_554_432, { promptNanoPerMillion: 3_000_000_001, requestNano: 0 }), 100_663_296_034)
  t.end()
})

t.test('caps a cost at COST_NANO_MAX, whatever the price and the reported tokens', (t) => {
  const dearest = { promptNanoPerMillion: Number.MAX_SAFE_INTEGER, requestNano: Number.MAX_SAFE_INTEGER }
  t.equal(costNano(2 ** 31, dearest), COST_NANO_MAX)
  t.equal(costNano(1, dearest), COST_NANO_MAX)
  t.end()
})

t.test('caps the charge at the bound of the kind of credential that was used', (t) => {
  const bound = { paidNano: 10, anyNano: 20 }
  t.equal(chargedNano({ costNano: 15, isByok: false }, bound), 10)
  t.equal(chargedNano({ costNano: 15, isByok: true }, bound), 15)
  t.equal(chargedNano({ costNano: 15, isByok: false }, { paidNano: null, anyNano: null }), 15)
  t.end()
})
