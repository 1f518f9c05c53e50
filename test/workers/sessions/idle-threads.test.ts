import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import t from 'tap'
import { must, present } from '../../support/must.ts'
import { until } from '../../support/wait.ts'
import { openSealed, openSessions, pushAll, reopened, text } from '../../support/files/sessions.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

t.test(
  'no session thread is loaded before one is wanted, and the first sessions wait for theirs',
  async (t) => {
    const stand = await openSessions(t, { threadCount: 2 })
    t.equal(stand.sessions.load.threads, 0)
    const content = text(100_000)
    const verdicts = await Promise.all(
      ['file_a', 'file_b', 'file_c'].map((id) => pushAll(openSealed(stand, id), [content])),
    )
    t.same(
      verdicts.map((verdict) => must(verdict).sizeBytes),
      [content.length, content.length, content.length],
    )
    t.ok((await reopened(stand, 'file_a', must(present(verdicts[0])))).equals(content))
    t.match(stand.sessions.load, { threads: 2, waiting: 0, silentThreads: 0 })
  },
)

t.test('threads end after some time without sessions, and the next session starts new ones', async (t) => {
  const stand = await openSessions(t, { threadCount: 2, idleMs: 1 })
  const content = text(100_000)
  for (const id of ['file_a', 'file_b']) {
    const verdict = must(await pushAll(openSealed(stand, id), [content]))
    t.equal(verdict.sizeBytes, content.length)
    await until('no thread is left', () => stand.sessions.load.threads === 0)
  }
  const { begun, busyS, silentThreads } = stand.sessions.load
  t.same([begun, silentThreads], [2, 0])
  t.ok(busyS > 0, 'the time of ended threads counts')
})

t.test(
  'session threads yield the core to the event loop when both need it',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async (t) => {
    const before = new Set(readdirSync('/proc/self/task'))
    const stand = await openSessions(t, { threadCount: 1 })
    must(await pushAll(openSealed(stand, 'file_a'), [text(1_000)]))
    const nices = readdirSync('/proc/self/task')
      .filter((id) => !before.has(id))
      .map((id) => getPriority(Number(id)))
    t.ok(
      nices.some((nice) => nice === getPriority() + 5),
      `${nices}`,
    )
    t.equal(getPriority(Number(process.pid)), getPriority())
  },
)

t.test('a pool that was never used closes without starting a thread', async (t) => {
  const { sessions } = await openSessions(t)
  await sessions.close()
  t.equal(sessions.load.threads, 0)
})
