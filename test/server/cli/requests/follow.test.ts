import t from 'tap'
import { followed, LOGS_LATE_MS, LOGS_LOOK_MS } from '../../../../src/server/cli/requests/follow.ts'
import type { LoggedRequest } from '../../../../src/server/ports/requests/request-log.ts'

const row = (n: number): LoggedRequest => ({ batch: '1', n, requestId: `r${n}` }) as LoggedRequest

t.test('each row comes once, oldest first, also one that is late', async (t) => {
  const looks = [[], [row(2), row(1)], [row(3), row(2), row(0), row(1)], [row(3), row(2), row(0), row(1)]]
  const froms: string[] = []
  let [nowMs, looked] = [100_000, 0]
  const rows: string[][] = []
  for await (const some of followed({
    find: async (from) => {
      froms.push(from)
      return looks[looked++] ?? []
    },
    pause: async (ms) => {
      t.equal(ms, LOGS_LOOK_MS)
      nowMs += 2 * LOGS_LATE_MS
      return looked < looks.length
    },
    now: () => nowMs,
  }))
    rows.push(some.map(({ requestId }) => requestId))
  t.same(rows, [
    ['r1', 'r2'],
    ['r0', 'r3'],
  ])
  const instants = [100_000, 100_000, 100_000 + LOGS_LATE_MS]
  t.same(
    froms.slice(0, 3),
    instants.map((ms) => new Date(ms).toISOString()),
  )
})
