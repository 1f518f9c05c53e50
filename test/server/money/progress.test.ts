/** What the journal knows of a streamed answer while it is open. D28. */
import t from 'tap'
import type { CallProgress } from '../../../src/server/ports/money/money.ts'
import { costOf, openMoney, usd } from '../../support/money/money-front.ts'

const BOUND = 1_000

function progressOf(costNano: number, more: Partial<CallProgress> = {}): CallProgress {
  const figures = { tokens: 3, text: { outputTokens: 4, cachedTokens: 1 }, milliseconds: 5.4 }
  return { ...costOf(costNano), model: 'acme/m', ...figures, isDrained: false, note: '{}', ...more }
}

t.test('until the call ends, the journal holds its last progress, limited to its bound', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(10) } })
  const held = await money.held({ nano: BOUND })
  if (!held.ok) throw new Error(held.failure.name)
  const inJournal = () => [...money.journal.open.values()].map(({ progress }) => progress)
  t.same(inJournal(), [undefined])
  held.value.progress(progressOf(300))
  t.same(inJournal(), [undefined], 'it is written at the end of the turn')
  await money.runFor(0)
  t.match(inJournal(), [
    {
      costNano: 300,
      model: 'acme/m',
      tokens: 3,
      text: { outputTokens: 4, cachedTokens: 1 },
      milliseconds: 5,
    },
  ])
  held.value.progress(progressOf(BOUND + 1, { isDrained: true }))
  await money.runFor(0)
  const paid = { organization: true, workspace: false, key: false }
  t.match(inJournal(), [{ costNano: BOUND, isDrained: true, isByok: false, paid }])
  held.value.settle(costOf(400))
  held.value.progress(progressOf(500))
  await money.runFor(0)
  t.same(inJournal(), [])
})

t.test('an answer under own credentials is charged to the accounts that count BYOK', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(10) }, w1: { daily: usd(10) }, k1: { daily: usd(10) } })
  const held = await money.held({
    nano: BOUND,
    bound: { paidNano: 200, anyNano: BOUND },
    money: { workspaceCountsByok: true },
  })
  if (!held.ok) throw new Error(held.failure.name)
  held.value.progress(progressOf(900, { isByok: true }))
  await money.runFor(0)
  const [take] = money.journal.open.values()
  const paid = { organization: false, workspace: true, key: false }
  t.match(take?.progress, { costNano: 900, isByok: true, paid })
})

t.test('the progress of a thousand streams in one turn is one append', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  const holds = Array.from({ length: 1_000 }, () => money.hold({ nano: BOUND }))
  await money.runFor(0)
  const { writes } = money.journal
  for (const held of holds) if ('ok' in held && held.ok) held.value.progress(progressOf(1))
  await money.runFor(0)
  t.equal(money.journal.writes, writes + 1)
  t.equal([...money.journal.open.values()].filter(({ progress }) => progress !== undefined).length, 1_000)
})

t.test('a take that the disk refused records no progress', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  money.journal.isFull = true
  const held = money.hold({ nano: BOUND })
  if (held instanceof Promise || !held.ok) throw new Error('there is money')
  held.value.progress(progressOf(1))
  await money.runFor(0)
  money.journal.isFull = false
  held.value.progress(progressOf(1))
  await money.runFor(5)
  t.equal(money.journal.open.size, 0)
})
