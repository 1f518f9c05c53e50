import t from 'tap'
import { PendingRequests } from '../../../../src/server/supervisor/fleet/channel.ts'

const LONG_MS = 60_000

t.test('the answer of a process that ends or does not answer in time is null', async (t) => {
  t.equal(await new PendingRequests<number>(1).ask(() => undefined), null)
  const requests = new PendingRequests<number>(LONG_MS)
  const open = [requests.ask(() => undefined), requests.ask(() => undefined)]
  requests.giveUp()
  t.same(await Promise.all(open), [null, null])
})

t.test('each request gets its own answer, and late or repeated answers are dropped', async (t) => {
  const requests = new PendingRequests<string>(LONG_MS)
  const ids: number[] = []
  const open = ['a', 'b'].map(() => requests.ask((id) => ids.push(id)))
  for (const id of ids.toReversed()) requests.answer(id, `to ${id}`)
  for (const id of [...ids, 99]) requests.answer(id, 'again')
  t.same(
    await Promise.all(open),
    ids.map((id) => `to ${id}`),
  )
})
