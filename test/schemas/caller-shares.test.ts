import t from 'tap'
import { Shares } from '../../src/schemas/values/callers.ts'

t.test('a holder has the amount taken less the amount returned; the sum stays within the maximum', (t) => {
  const shares = new Shares(10)
  shares.add(4, 'one')
  t.ok(shares.fits(6, 'one'))
  t.notOk(shares.fits(7, 'one'))
  shares.add(-4, 'one')
  t.equal(shares.heldBy('one'), 0)
  t.ok(shares.fits(10, 'one'))
  shares.add(10, 'one')
  t.notOk(shares.fits(1, 'one'))
  t.end()
})

t.test('holders without a share are forgotten, and holders with a share are kept', (t) => {
  const shares = new Shares(10)
  shares.add(3, 'stays')
  for (let nth = 0; nth < 1_000; nth++) {
    shares.add(1, `holder ${nth}`)
    shares.add(-1, `holder ${nth}`)
  }
  t.ok(shares.names < 200)
  t.equal(shares.heldBy('stays'), 3)
  t.end()
})
