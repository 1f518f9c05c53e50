import t from 'tap'
import type { Caller } from '../../../src/schemas/values/callers.ts'
import {
  UPSTREAM_ANSWERS_BYTES_MAX,
  UPSTREAM_ANSWER_BYTES_MAX,
} from '../../../src/schemas/models/provider-limits.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'

const MIB = 1024 * 1024
/** More bytes of an answer that has some. */
const of = (bytes: number, heldBytes: number, caller: Caller | null = null) => ({ bytes, heldBytes, caller })
/** A key of its own, in a workspace of its own. */
const by = (organizationId: string, nth = 0): Caller => ({
  organizationId,
  workspaceId: `${organizationId}-w${nth}`,
  key: `${organizationId}-k${nth}`,
})

/** A budget whose part for large answers is held by slow readers, with one more large answer that waits. */
function crowded() {
  const budget = new AnswerBudget(UPSTREAM_ANSWERS_BYTES_MAX)
  const granted: string[] = []
  while (budget.take(8 * MIB));
  const leave = budget.wait(of(100 * MIB, 0), () => granted.push('large'))
  return { budget, granted, leave }
}

t.test(
  'small answers are admitted before a waiting large one, from a reserve that large ones cannot use',
  async (t) => {
    const { budget, granted } = crowded()
    for (let nth = 0; nth < 32; nth++) t.equal(budget.take(MIB), true)
    t.equal(budget.take(MIB), false, 'the budget holds for all')
    budget.wait(of(MIB, 0), () => granted.push('small'))
    budget.give(MIB)
    t.same(granted, ['small'])
  },
)

t.test('large answers wait in order, even behind one that is larger than the free room', async (t) => {
  const { budget, granted } = crowded()
  budget.wait(of(2 * MIB, 0), () => granted.push('later'))
  budget.give(8 * MIB)
  t.equal(budget.take(2 * MIB), false)
  t.same(granted, [])
  for (let nth = 0; nth < 12; nth++) budget.give(8 * MIB)
  t.same(granted, ['large', 'later'])
})

t.test('an answer that was admitted as small cannot use the reserve when it grows', async (t) => {
  const { budget } = crowded()
  t.equal(budget.take(MIB / 2), true)
  t.equal(budget.grow(of(MIB / 2, MIB / 2)), true)
  t.equal(budget.grow(of(1, MIB)), false)
})

t.test('the largest answer fits when alone, and a cancelled waiting answer admits the next', async (t) => {
  t.equal(new AnswerBudget(UPSTREAM_ANSWERS_BYTES_MAX).take(UPSTREAM_ANSWER_BYTES_MAX), true)
  t.equal(new AnswerBudget(100).take(100), true)
  const { budget, granted, leave } = crowded()
  budget.wait(of(2 * MIB, 0), () => granted.push('next'))
  budget.give(8 * MIB)
  leave()
  t.same(granted, ['next'])
})

t.test('of answers waiting for each other, the last is refused and the other continues', async (t) => {
  const budget = new AnswerBudget(100)
  const reported: string[] = []
  t.ok(budget.take(50) && budget.take(30))
  budget.wait(of(40, 50), (isGranted) => reported.push(`first ${isGranted}`))
  t.same(reported, [], 'the other one may end yet')
  budget.wait(of(30, 30), (isGranted) => {
    reported.push(`second ${isGranted}`)
    budget.give(30)
  })
  t.same(reported, ['second false', 'first true'])
})

t.test('after the only answer that could finish ends, one waiting answer is refused', async (t) => {
  const budget = new AnswerBudget(100)
  const reported: string[] = []
  t.ok(budget.take(40) && budget.take(40) && budget.take(5))
  budget.wait(of(50, 40), (isGranted) => reported.push(`first ${isGranted}`))
  budget.wait(of(60, 40), (isGranted) => {
    reported.push(`second ${isGranted}`)
    budget.give(40)
  })
  t.same(reported, [])
  budget.give(5)
  t.same(reported, ['second false', 'first true'])
})

t.test('one organization leaves half of the room to others, however many keys it has', async (t) => {
  const budget = new AnswerBudget(UPSTREAM_ANSWERS_BYTES_MAX)
  const taken = Array.from({ length: 12 }, (_, nth) => budget.take(22 * MIB, by('flood', nth)))
  t.equal(taken.filter(Boolean).length, 5)
  t.equal(
    budget.grow(of(19 * MIB, 22 * MIB, by('flood'))),
    false,
    'nor do those that have begun grow past it',
  )
  for (let nth = 0; nth < 30; nth++) t.equal(budget.take(2_800_000, by('other')), true)
  budget.give(22 * MIB, by('flood'))
  t.equal(budget.take(22 * MIB, by('flood', 20)), true)
})

t.test('one key leaves room to its workspace, and one workspace to its organization', async (t) => {
  const budget = new AnswerBudget(UPSTREAM_ANSWERS_BYTES_MAX)
  const key = (workspaceId: string, name: string): Caller => ({ organizationId: 'o', workspaceId, key: name })
  const took = (caller: Caller): number =>
    Array.from({ length: 40 }, () => budget.take(4 * MIB, caller)).filter(Boolean).length
  t.same([took(key('w', 'a')), took(key('w', 'b')), took(key('v', 'c'))], [24, 4, 4])
})

t.test('the only answer of an organization may be larger than its share', async (t) => {
  const budget = new AnswerBudget(UPSTREAM_ANSWER_BYTES_MAX)
  t.equal(budget.take(100 * MIB, by('a')), true)
  t.equal(budget.grow(of(4 * MIB, 100 * MIB, by('a'))), true)
  t.equal(budget.take(1, by('a', 1)), false)
})

t.test(
  'an answer waiting for its share stops no other organization, and continues when room returns',
  async (t) => {
    const budget = new AnswerBudget(100)
    const reported: string[] = []
    t.ok(budget.take(30, by('a')))
    budget.wait(of(30, 0, by('a', 1)), (isGranted) => reported.push(`second ${isGranted}`))
    t.equal(budget.take(5, by('a', 1)), false, 'nothing of its own key passes it')
    t.equal(budget.take(5, by('a', 2)), true, 'other keys of its own organization do')
    t.equal(budget.take(30, by('b')), true)
    budget.give(30, by('b'))
    t.same(reported, [])
    budget.give(30, by('a'))
    t.same(reported, ['second true'])
  },
)

t.test('when answers of one organization wait for each other, the last one is refused', async (t) => {
  const budget = new AnswerBudget(100)
  const reported: string[] = []
  t.ok(budget.take(20, by('b')) && budget.take(30, by('a')) && budget.take(20, by('a', 1)))
  budget.wait(of(10, 30, by('a')), (isGranted) => reported.push(`first ${isGranted}`))
  t.same(reported, [], 'the other one may end yet')
  budget.wait(of(10, 20, by('a', 1)), (isGranted) => {
    reported.push(`second ${isGranted}`)
    budget.give(20, by('a', 1))
  })
  t.same(reported, ['second false', 'first true'])
})
