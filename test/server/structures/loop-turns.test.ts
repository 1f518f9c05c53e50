import t from 'tap'
import { ECHO_TURN_BATCHES_MAX, LoopTurns } from '../../../src/server/upstream/inference/echo.ts'

const turn = (): Promise<void> => new Promise(setImmediate)

t.test('at most as many pieces of work run in a turn of the loop as there are places', async (t) => {
  const turns = new LoopTurns(ECHO_TURN_BATCHES_MAX)
  let ran = 0
  const works = Array.from({ length: 3 * ECHO_TURN_BATCHES_MAX + 1 }, () =>
    turns.next('one').then(() => ran++),
  )
  const counts: number[] = []
  while (ran < works.length) {
    const before = ran
    await turn()
    counts.push(ran - before)
  }
  t.ok(
    counts.every((count) => count <= ECHO_TURN_BATCHES_MAX),
    counts.join(),
  )
  await Promise.all(works)
})

t.test('a tenant with few pieces of work does not wait for one with many', async (t) => {
  const turns = new LoopTurns(1)
  const order: string[] = []
  const next = (tenant: string): Promise<unknown> => turns.next(tenant).then(() => order.push(tenant))
  await Promise.all([...Array.from({ length: 20 }, () => next('many')), next('few'), next('few')])
  t.ok(order.lastIndexOf('few') < 6, order.join())
})
