import t from 'tap'
import type { LoadRow } from '../../support/load/load-plan.ts'
import { worstInterval } from './limits.ts'

const row = (startedAt: number, endedAt: number): LoadRow => ({
  connection: 0,
  startedAt,
  endedAt,
  status: 200,
  failure: '',
})

t.test('a burst equal to the bound has no excess, and one request more is an excess', async (t) => {
  // 600 a minute let one through in the 100 ms of slack.
  const burst = Array.from({ length: 61 }, () => row(0, 0))
  t.equal(worstInterval(burst, 60).excess, 0)
  t.equal(worstInterval([...burst, row(0, 0)], 60).excess, 1)
})

t.test('a request that is only partly within an interval does not count in it', async (t) => {
  const rows = [...Array.from({ length: 61 }, () => row(0, 0)), row(-1, 200), row(0, 1_000)]
  t.ok(worstInterval(rows, 60).excess <= 0)
})

t.test('finds an excess in the middle of a long run', async (t) => {
  const steady = Array.from({ length: 100 }, (_, index) => row(index * 100, index * 100 + 1))
  const clump = Array.from({ length: 70 }, () => row(5_000, 5_001))
  t.ok(worstInterval([...steady, ...clump], 60).excess > 8)
})
