/** One organization whose calls hold the loop beside another one that calls now and then. */
import t from 'tap'
import { accessTo, KEY, keyRecords, openFront, operation, OTHER_KEY, patient } from '../../support/front.ts'

const HELD_MS = 10
const CONNECTIONS = 8

t.test('an organization whose calls hold the loop is interrupted by those of another one, and refused nothing', async (t) => {
  let heavy = 0
  const hold = () => {
    heavy++
    for (const end = performance.now() + HELD_MS; performance.now() < end;);
    return { ok: true, value: { kind: 'json', value: {} } } as const
  }
  const records = new Map([...keyRecords()].map(([hash, record], at) => [hash, at === 1 ? { ...record, organizationId: 'other' } : record]))
  const { url } = await openFront(t, [
    operation({ id: 'test.heavy', method: 'get', path: '/heavy', input: {}, run: hold }),
    operation({ id: 'test.light', method: 'get', path: '/light', input: {}, statuses: [400, 401, 429, 500] }),
  ], { access: accessTo(records), timers: patient() })
  const status = async (path: string, key: string): Promise<number> => {
    const answer = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
    await answer.arrayBuffer()
    return answer.status
  }
  let isOver = false
  const statuses = new Set<number>()
  const flood = async (): Promise<void> => {
    while (!isOver) statuses.add(await status('/heavy', KEY))
  }
  await status('/light', OTHER_KEY)
  const floods = Array.from({ length: CONNECTIONS }, flood)
  const between: number[] = []
  for (let n = 0; n < 40; n++) {
    const before = heavy
    t.equal(await status('/light', OTHER_KEY), 200)
    between.push(heavy - before)
  }
  isOver = true
  await Promise.all(floods)
  t.same([...statuses], [200])
  // Those of the burst stand at the beginning; without turns each waits for a call of every connection.
  const later = between.slice(15).sort((a, b) => a - b)
  t.ok((later[Math.floor(later.length / 2)] ?? Infinity) <= 2, `${between.join(' ')} calls of the heavy one while one was answered`)
})
