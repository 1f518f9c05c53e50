import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import t from 'tap'
import { must, present } from '../../support/must.ts'
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

t.test('warming starts every thread once, also when sessions came before', async (t) => {
  const stand = await openSessions(t, { threadCount: 2 })
  const first = pushAll(openSealed(stand, 'file_a'), [text(1_000)])
  stand.sessions.warm()
  stand.sessions.warm()
  t.equal(stand.sessions.load.threads, 2)
  must(await first)
  t.equal(stand.sessions.load.threads, 2)
})

t.test(
  'session threads leave the core to the loop where both want it',
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

t.test('a pool that was never used closes, and is not warmed after that', async (t) => {
  const { sessions } = await openSessions(t)
  await sessions.close()
  sessions.warm()
  t.equal(sessions.load.threads, 0)
})
