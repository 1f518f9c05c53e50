import t from 'tap'
import { restingClaim } from '../../../src/server/runner/resting-claims.ts'

function open(rows: { open: number; due: number }) {
  const asked: string[] = []
  const claim = restingClaim({
    claim: (count: number) => {
      asked.push('claim')
      const taken = Math.min(count, rows.due)
      rows.due -= taken
      return Promise.resolve(taken)
    },
    isOpen: () => {
      asked.push('look')
      return rows.open < 0 ? Promise.reject(new Error('away')) : Promise.resolve(rows.open > 0)
    },
    nothing: 0,
    isNothing: (taken) => taken === 0,
  })
  return { claim, asked }
}

t.test('while no row is open, only cheap looks are made and no claims', async (t) => {
  const { claim, asked } = open({ open: 0, due: 0 })
  t.same([await claim(1), await claim(1)], [0, 0])
  t.same(asked, ['look', 'look'])
})

t.test('a new open row is claimed at once, and no look is made while claims find rows', async (t) => {
  const rows = { open: 0, due: 0 }
  const { claim, asked } = open(rows)
  await claim(2)
  Object.assign(rows, { open: 3, due: 3 })
  t.same([await claim(2), await claim(2), await claim(2), await claim(2)], [2, 1, 0, 0])
  t.same(asked, ['look', 'look', 'claim', 'claim', 'claim', 'look', 'claim'])
})

t.test('after a failed look a claim is made', async (t) => {
  const { claim, asked } = open({ open: -1, due: 1 })
  t.equal(await claim(1), 1)
  t.same(asked, ['look', 'claim'])
})
