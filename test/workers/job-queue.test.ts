import t from 'tap'
import type { Caller } from '../../src/schemas/values/callers.ts'
import { JobQueue } from '../../src/workers/job-queue.ts'

const by = (organizationId: string, workspaceId = 'w', key = 'k'): Caller => ({
  organizationId,
  workspaceId,
  key,
})
const named = ({ organizationId, workspaceId, key }: Caller): string =>
  `${organizationId}.${workspaceId}.${key}`

/** A queue before one thread: jobs take `msOf` their caller, and the order in which they had it is kept. */
function stand(
  limits: { readonly sizeMax?: number; readonly organizationMax?: number } = {},
  msOf: (caller: Caller) => number = () => 10,
) {
  const queue = new JobQueue({ sizeMax: 1_000, organizationMax: 1_000, ...limits })
  const order: string[] = []
  const refused: string[] = []
  let running: Caller | null = null
  const begin = (caller: Caller): void => {
    queue.began(caller)
    order.push(named(caller))
    running = caller
  }
  const ask = (caller: Caller): void => {
    if (running === null) return begin(caller)
    if (queue.makeRoom(caller) !== null) return void refused.push(named(caller))
    const turn = (refusal: unknown): void => {
      if (refusal === null) begin(caller)
      else refused.push(named(caller))
      queue.remove(caller, turn)
    }
    queue.add(caller, turn)
  }
  const end = (): void => {
    if (running === null) return
    queue.ended(running, msOf(running))
    running = null
    queue.next()?.(null)
  }
  const drain = (): void => {
    while (running !== null) end()
  }
  return { queue, order, refused, ask, end, drain }
}

t.test('a thousand keys of one organization get one turn before that of another organization', async (t) => {
  const { order, ask, drain } = stand()
  for (let nth = 0; nth < 999; nth++) ask(by('flood', `w${nth % 7}`, `k${nth}`))
  ask(by('other'))
  drain()
  t.equal(order.indexOf('other.w.k'), 1)
  t.equal(order.length, 1_000)
})

t.test('the running job counts: its organization waits for another that arrived later', async (t) => {
  const { order, ask, drain } = stand()
  for (const name of ['a', 'a', 'b']) ask(by(name))
  drain()
  t.same(order, ['a.w.k', 'b.w.k', 'a.w.k'])
})

t.test('workspaces share the turns of their organization, and keys those of their workspace', async (t) => {
  const { order, ask, drain } = stand()
  ask(by('busy'))
  for (const key of ['1', '2', '3']) ask(by('o', 'many', key))
  ask(by('o', 'few'))
  ask(by('o', 'many', '1'))
  drain()
  t.same(order, ['busy.w.k', 'o.many.1', 'o.few.k', 'o.many.2', 'o.many.3', 'o.many.1'])
})

t.test('shares thread time: many short jobs run after one long job', async (t) => {
  const { order, ask, drain } = stand({}, ({ organizationId }) => (organizationId === 'long' ? 100 : 10))
  for (let nth = 0; nth < 20; nth++) ask(by(nth % 2 === 0 ? 'long' : 'short'))
  drain()
  const [second, third] = order.flatMap((name, at) => (name === 'long.w.k' ? [at] : [])).slice(1)
  t.equal(second, 11)
  t.equal(third, 12, 'by then the others have no more')
})

t.test('a steady stream of new keys does not hold up a key that already had its turn', async (t) => {
  const { order, ask, end } = stand()
  ask(by('o', 'w', 'old'))
  ask(by('o', 'w', 'old'))
  for (let nth = 0; nth < 20; nth++) {
    ask(by('o', 'w', `new${nth}`))
    ask(by('o', 'w', `other${nth}`))
    end()
  }
  t.ok(order.lastIndexOf('o.w.old') > 0)
})

t.test(
  'a full queue drops a job of the organization with the most jobs, and of its key with the most',
  async (t) => {
    const { queue, refused, ask } = stand({ sizeMax: 6 })
    ask(by('running'))
    for (const key of ['a', 'b', 'b', 'b', 'c']) ask(by('flood', 'w', key))
    ask(by('other'))
    t.equal(queue.size, 6)
    ask(by('other'))
    t.same(refused, ['flood.w.b'])
    ask(by('flood', 'w', 'b'))
    t.same(refused.slice(1), ['flood.w.b'], 'which gets no place by refusing others')
    ask(by('third'))
    t.same(refused.slice(2), ['flood.w.b'])
    t.equal(queue.size, 6)
  },
)

t.test(
  'an organization at its share of the queue is refused more jobs, and a key without jobs displaces another key',
  async (t) => {
    const { refused, ask } = stand({ organizationMax: 3 })
    ask(by('running'))
    for (const key of ['a', 'a', 'a', 'a', 'b']) ask(by('flood', 'w', key))
    ask(by('other'))
    t.same(refused, ['flood.w.a', 'flood.w.a'])
  },
)

t.test('nothing is kept for keys without a job', async (t) => {
  const { queue, ask, drain } = stand()
  for (let nth = 0; nth < 50; nth++) ask(by(`o${nth % 5}`, 'w', `k${nth}`))
  drain()
  t.equal(queue.size, 0)
  t.equal(queue.next(), null)
})
