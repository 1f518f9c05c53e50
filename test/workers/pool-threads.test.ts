import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { BACKGROUND_JOB_MS_MAX, SHORT_JOB_MS_MAX } from '../../src/schemas/limits/limits.ts'
import { openPools } from '../../src/workers/pool.ts'
import { diskFailure } from '../../src/server/storage/disk-failure.ts'
import { createIntake } from '../../src/workers/sessions/intake.ts'
import { keptLog, SILENT } from '../support/log.ts'
import { must } from '../support/must.ts'
import { BY, job, warm } from '../support/pool-jobs.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

t.test(
  'the short jobs of a runner give way to fronts and may take longer',
  { skip: existsSync('/proc/self/task') ? false : 'no /proc' },
  async (t) => {
    const nicer = (): readonly string[] =>
      readdirSync('/proc/self/task').filter(
        (thread) => Number(niceOf(`/proc/self/task/${thread}/stat`)) > getPriority(),
      )
    t.ok(BACKGROUND_JOB_MS_MAX > SHORT_JOB_MS_MAX)
    // Of an earlier pool one may be ending still.
    const before = nicer()
    const pools = openPools({
      shortThreads: 1,
      sessionThreads: 0,
      queueMax: 4,
      isBackground: true,
      log: SILENT,
    })
    t.teardown(() => pools.close())
    t.match(await pools.jobs.run('read_body', job(), BY), { ok: true })
    t.ok(
      nicer().some((thread) => !before.includes(thread)),
      nicer().join(),
    )
  },
)

t.test('the first job starts the threads of a runner, and only the body thread of a front', async (t) => {
  let born = 0
  const count = (): void => void born++
  process.on('worker', count)
  t.teardown(() => process.off('worker', count))
  // Node reports a new thread in a later turn.
  const threads = async (): Promise<number> => {
    await new Promise((resolve) => setImmediate(resolve))
    return born
  }
  const of = (isBackground: boolean) =>
    openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, isBackground, log: SILENT })
  const runner = of(true)
  t.equal(await threads(), 0)
  t.match(await runner.jobs.run('read_body', job(), BY), { ok: true })
  t.equal(await threads(), 1)
  const front = of(false)
  t.equal(await threads(), 2, 'the one for jobs below a millisecond')
  t.match(await front.jobs.run('read_body', job(), BY), { ok: true })
  t.equal(await threads(), 3)
  await Promise.all([runner.close(), front.close()])
})

t.test('a body thread ends after some time without bodies, and the next body starts another', async (t) => {
  const pools = openPools({ shortThreads: 1, sessionThreads: 0, queueMax: 4, idleMs: 1, log: SILENT })
  t.teardown(() => pools.close())
  const threads: Worker[] = []
  const born = (thread: Worker): void => void threads.push(thread)
  process.on('worker', born)
  t.teardown(() => process.off('worker', born))
  t.match(await pools.jobs.run('read_body', job(), BY), { ok: true })
  const bodies = threads.at(-1)
  // An idle thread does not keep the process alive.
  const alive = setInterval(() => {}, 1_000)
  if (bodies !== undefined && bodies.threadId !== -1) await once(bodies, 'exit')
  clearInterval(alive)
  const before = threads.length
  t.match(await pools.jobs.run('read_body', job(), BY), { ok: true })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(threads.length, before + 1)
})

t.test('a runner that ends when its first job arrives answers the job, and ends cleanly', async (t) => {
  const { jobs, close } = openPools({
    shortThreads: 1,
    sessionThreads: 0,
    queueMax: 4,
    isBackground: true,
    log: SILENT,
  })
  const outcome = jobs.run('read_body', job(), BY)
  await close()
  t.type((await outcome).ok, 'boolean')
})

t.test('closing answers running and waiting jobs', async (t) => {
  const { jobs, close } = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, log: SILENT })
  await jobs.run('read_body', job(), BY)
  const outcomes = [jobs.run('read_body', job(30 * 1024 * 1024), BY), jobs.run('read_body', job(), BY)]
  await close()
  for (const outcome of await Promise.all(outcomes))
    t.match(outcome, { ok: false, failure: { name: 'draining' } })
  t.match(await jobs.run('read_body', job(), BY), { ok: false, failure: { name: 'draining' } })
})

t.test('a pool that is closed right after it was opened ends cleanly', async (t) => {
  for (let i = 0; i < 2; i++)
    await openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, log: SILENT }).close()
  t.pass('the process lives')
})

t.test('logs a thread that dies idle, and replaces it', async (t) => {
  const threads: Worker[] = []
  const born = (thread: Worker): void => void threads.push(thread)
  process.on('worker', born)
  t.teardown(() => process.off('worker', born))
  const log = keptLog()
  const { jobs, sessions, close } = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, log })
  t.teardown(() => close())
  await warm(jobs)
  const intake = createIntake({ sessions, failureOf: diskFailure })
  const read = async () => {
    const session = must(intake.open({ holder: 'w', target: null, content: 'any', bytesMax: 1 }))
    const verdict = await session.finish()
    await session.cancel()
    return verdict
  }
  await read()
  const cause = new Error('thread died')
  for (const thread of [...threads]) thread.emit('error', cause)
  t.same(log.events, [
    ...Array.from({ length: 2 }, () => ({ event: 'worker.thread_lost', fields: { kind: 'short', cause } })),
    { event: 'worker.thread_lost', fields: { kind: 'session', cause } },
  ])
  t.match(await jobs.run('read_body', job(), BY), { ok: true })
  t.match(await read(), { ok: true })
  t.equal(threads.length, 6)
})

/** The 17th field after the name, which may contain spaces; empty when the thread has ended meanwhile. */
function niceOf(file: string): string {
  try {
    const text = readFileSync(file, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[16] ?? ''
  } catch {
    return ''
  }
}
