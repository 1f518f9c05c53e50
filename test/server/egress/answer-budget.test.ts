import t from 'tap'
import { UPSTREAM_ANSWERS_BYTES_MAX, UPSTREAM_ANSWER_BYTES_MAX } from '../../../src/schemas/limits.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'

const MIB = 1024 * 1024

/** A budget whose part for large answers is held by slow readers, with one more large answer that waits. */
function crowded() {
  const budget = new AnswerBudget(UPSTREAM_ANSWERS_BYTES_MAX)
  const granted: string[] = []
  while (budget.take(8 * MIB));
  const leave = budget.wait({ bytes: 100 * MIB, heldBytes: 0 }, () => granted.push('large'))
  return { budget, granted, leave }
}

t.test('small answers pass a large one that waits, out of a reserve that large ones cannot take', async (t) => {
  const { budget, granted } = crowded()
  for (let nth = 0; nth < 32; nth++) t.equal(budget.take(MIB), true)
  t.equal(budget.take(MIB), false, 'the budget holds for all')
  budget.wait({ bytes: MIB, heldBytes: 0 }, () => granted.push('small'))
  budget.give(MIB)
  t.same(granted, ['small'])
})

t.test('large answers wait in order, also behind one that is larger than what is free', async (t) => {
  const { budget, granted } = crowded()
  budget.wait({ bytes: 2 * MIB, heldBytes: 0 }, () => granted.push('later'))
  budget.give(8 * MIB)
  t.equal(budget.take(2 * MIB), false)
  t.same(granted, [])
  for (let nth = 0; nth < 12; nth++) budget.give(8 * MIB)
  t.same(granted, ['large', 'later'])
})

t.test('an answer that began small does not grow into the reserve', async (t) => {
  const { budget } = crowded()
  t.equal(budget.take(MIB / 2), true)
  t.equal(budget.grow(MIB / 2, MIB / 2), true)
  t.equal(budget.grow(1, MIB), false)
})

t.test('the largest answer fits when nothing else is held, and who leaves makes way', async (t) => {
  t.equal(new AnswerBudget(UPSTREAM_ANSWERS_BYTES_MAX).take(UPSTREAM_ANSWER_BYTES_MAX), true)
  t.equal(new AnswerBudget(100).take(100), true)
  const { budget, granted, leave } = crowded()
  budget.wait({ bytes: 2 * MIB, heldBytes: 0 }, () => granted.push('next'))
  budget.give(8 * MIB)
  leave()
  t.same(granted, ['next'])
})

t.test('of answers that wait for each other the last one is refused at once, and the other goes on', async (t) => {
  const budget = new AnswerBudget(100)
  const told: string[] = []
  t.ok(budget.take(50) && budget.take(30))
  budget.wait({ bytes: 40, heldBytes: 50 }, (isGranted) => told.push(`first ${isGranted}`))
  t.same(told, [], 'the other one may end yet')
  budget.wait({ bytes: 30, heldBytes: 30 }, (isGranted) => {
    told.push(`second ${isGranted}`)
    budget.give(30)
  })
  t.same(told, ['second false', 'first true'])
})

t.test('the end of the one answer that needed no more lets one of those that wait go on', async (t) => {
  const budget = new AnswerBudget(100)
  const told: string[] = []
  t.ok(budget.take(40) && budget.take(40) && budget.take(5))
  budget.wait({ bytes: 50, heldBytes: 40 }, (isGranted) => told.push(`first ${isGranted}`))
  budget.wait({ bytes: 60, heldBytes: 40 }, (isGranted) => {
    told.push(`second ${isGranted}`)
    budget.give(40)
  })
  t.same(told, [])
  budget.give(5)
  t.same(told, ['second false', 'first true'])
})
