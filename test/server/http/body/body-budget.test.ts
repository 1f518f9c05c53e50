import t from 'tap'
import { BodyBudget } from '../../../../src/server/http/body/body.ts'

const by = (organizationId: string, workspaceId: string, key: string) => ({
  organizationId,
  workspaceId,
  key,
})

t.test('one organization leaves a share of the room to others, however many keys it has', async (t) => {
  const budget = new BodyBudget(1_000)
  const taken = Array.from({ length: 100 }, (_, nth) => budget.take(100, by('flood', `w${nth}`, `k${nth}`)))
  t.equal(taken.filter(Boolean).length, 7)
  t.ok(budget.take(250, by('other', 'w', 'k')))
})

t.test('a workspace and a key leave a share of the room to others of their organization', async (t) => {
  const budget = new BodyBudget(1_000)
  t.ok(budget.take(500, by('o', 'w', 'k')))
  t.notOk(budget.take(1, by('o', 'w', 'k')))
  t.ok(budget.take(125, by('o', 'w', 'k2')))
  t.notOk(budget.take(1, by('o', 'w', 'k3')))
  t.ok(budget.take(125, by('o', 'w2', 'k4')))
  t.notOk(budget.take(1, by('o', 'w3', 'k5')))
})

t.test('room that is returned can be taken again, and a refusal takes none', async (t) => {
  const budget = new BodyBudget(1_000)
  const caller = by('o', 'w', 'k')
  t.ok(budget.take(300, null))
  budget.giveBack(300, null)
  for (let nth = 0; nth < 5; nth++) {
    t.ok(budget.take(500, caller))
    t.notOk(budget.take(100, caller))
    budget.giveBack(500, caller)
  }
  t.equal(budget.left, 1_000)
})
