import t from 'tap'
import { SwapList } from '../../../src/server/structures/swap-list.ts'

t.test('an iteration visits every member once, even when members are removed during it', async (t) => {
  for (const taken of [[], [0], [4], [1, 2], [0, 1, 2, 3, 4]]) {
    const list = new SwapList<{ place: number; nth: number }>()
    for (let nth = 0; nth < 5; nth++) list.add({ place: -1, nth })
    const met: number[] = []
    list.each((member) => {
      met.push(member.nth)
      if (taken.includes(member.nth)) list.delete(member)
    })
    t.same(met.sort(), [0, 1, 2, 3, 4])
    t.same(
      list
        .list()
        .map(({ nth }) => nth)
        .sort(),
      [0, 1, 2, 3, 4].filter((nth) => !taken.includes(nth)),
    )
  }
})
