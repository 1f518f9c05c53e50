import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { THREAD_SILENT_MS_MAX } from '../../../src/schemas/files/file-limits.ts'
import { keptLog } from '../../support/log.ts'
import { atPace } from '../../support/load/pace.ts'
import { openFiles, openSealed, openSessions, pushAll, text } from '../../support/files/sessions.ts'
import { NO_MOUNT, tinyDisk } from '../../support/files/tiny-disk.ts'
import { until } from '../../support/wait.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

const HANGING = new URL('../../support/files/hanging-thread.js', import.meta.url)

const STUCK = new URL('../../support/files/stuck-thread.js', import.meta.url)

/** Threads that begin from now on. */
function watchThreads(t: Test): readonly Worker[] {
  const threads: Worker[] = []
  const born = (thread: Worker): void => void threads.push(thread)
  process.on('worker', born)
  t.teardown(() => process.off('worker', born))
  return threads
}

t.test(
  'a hanging session is ended with its thread: all sessions of the thread fail with busy, and the next one works',
  async (t) => {
    const log = keptLog()
    const stand = await openSessions(t, { entry: HANGING, silentMs: THREAD_SILENT_MS_MAX / 2, log })
    const sessions = ['neighbour', 'hangs'].map((name) => openSealed(stand, name))
    const failures = sessions.map((session) => new Promise((resolve) => session.onFailure(resolve)))
    for (const session of sessions) session.push(text(100))
    t.match(await Promise.all(failures), [
      { name: 'busy', retryAfterS: 1 },
      { name: 'busy', retryAfterS: 1 },
    ])
    await Promise.all(sessions.map((session) => session.cancel()))
    // Node closes the files of a thread after it has ended, which the pool does not wait for.
    await until(async () => (await openFiles(stand)).length === 0)
    t.match(await pushAll(openSealed(stand, 'next'), [text(100)]), { ok: true })
    t.match(stand.sessions.load, { threads: 1, silentThreads: 1, waiting: 0 })
    t.match(log.events, [{ event: 'worker.thread_silent' }])
  },
)

t.test('a session of a stuck thread ends at once, and its file is deleted if created later', async (t) => {
  const stand = await openSessions(t, { entry: STUCK, silentMs: 200 })
  const path = join(stand.folder, 'file_a')
  execFileSync('mkfifo', [`${path}.pipe`])
  const session = openSealed(stand, 'file_a')
  t.match(await new Promise((resolve) => session.onFailure(resolve)), { name: 'busy', retryAfterS: 1 })
  await session.cancel()
  t.equal(stand.sessions.load.intakes, 1, 'its thread still has it')
  t.notOk(existsSync(`${path}.made`))
  await writeFile(`${path}.pipe`, '')
  await until(() => !(stand.sessions.load.intakes > 0 || existsSync(path)))
  t.ok(existsSync(`${path}.made`))
})

t.test('a busy thread that still answers is not ended', async (t) => {
  await atPace(THREAD_SILENT_MS_MAX / 5, async (silentMs) => {
    const stand = await openSessions(t, { silentMs })
    // More work where more silence is borne: a disk that stands still is silence, too.
    const pieces = Array.from<Buffer>({ length: 0.3 * silentMs }).fill(text(1_000_000))
    const stored = await pushAll(openSealed(stand, 'file_a'), pieces)
    return stored.ok && stand.sessions.load.silentThreads === 0
  })
})

t.test('a thread that dies fails its sessions and is replaced', async (t) => {
  const threads = watchThreads(t)
  const stand = await openSessions(t)
  await pushAll(openSealed(stand, 'first'), [text(10)])
  const waiting = openSealed(stand, 'file_a')
  const failure = new Promise((resolve) => waiting.onFailure(resolve))
  const finishing = openSealed(stand, 'file_b')
  waiting.push(text(100))
  await threads[0]?.terminate()
  t.match(await finishing.finish(), { failure: { name: 'busy' } })
  t.match(await failure, { name: 'busy' })
  await Promise.all([waiting.cancel(), finishing.cancel()])
  t.same(await openFiles(stand), [])
  t.match(await pushAll(openSealed(stand, 'file_c'), [text(100)]), { ok: true })
  t.equal(threads.length, 2)
})

const STAGES: Readonly<Record<string, (session: ReturnType<typeof openSealed>) => unknown>> = {
  'before its thread knows of it': () => {},
  'after a byte': (session) => session.push(text(1)),
  'with a full window': (session) => {
    while (session.push(text(65_536)));
  },
  'when it has room again': (session) => {
    const room = new Promise<void>((resolve) => session.onRoom(resolve))
    while (session.push(text(65_536)));
    return room
  },
  'while it finishes': (session) => {
    session.push(text(100_000))
    void session.finish()
  },
  'after its verdict': (session) => {
    session.push(text(100_000))
    return session.finish()
  },
}

for (const [stage, reach] of Object.entries(STAGES)) {
  t.test(`an upload that is cancelled ${stage} releases everything it holds`, async (t) => {
    const stand = await openSessions(t)
    const session = openSealed(stand, 'file_a')
    const reported: unknown[] = []
    session.onFailure((failure) => reported.push(failure))
    await reach(session)
    await Promise.all([session.cancel(), session.cancel()])
    t.same(await openFiles(stand), [])
    t.match([stand.intake.waitingBytes, stand.sessions.load.intakes, reported], [0, 0, []])
    t.equal(session.push(text(1)), false, 'and takes nothing more')
    t.ok(await session.finish(), 'and can be finished without harm')
  })
}

t.test(
  'a full disk fails the session at once, and its descriptor is closed',
  { skip: NO_MOUNT },
  async (t) => {
    const folder = await tinyDisk(t)
    const stand = { ...(await openSessions(t)), folder }
    const session = openSealed(stand, 'file_a')
    const outcome = await pushAll(
      session,
      Array.from({ length: 100 }, () => text(65_536)),
    )
    t.match(outcome, { failure: { name: 'storage_full', cause: { code: 'ENOSPC' } } })
    await session.cancel()
    t.same(await openFiles(stand), [])
  },
)

t.test('a pool that closes cancels its sessions and takes no more', async (t) => {
  const stand = await openSessions(t)
  const session = openSealed(stand, 'file_a')
  session.push(text(100))
  await stand.sessions.close()
  await session.cancel()
  t.match(stand.intake.open({ holder: 'w', target: null, content: 'any', bytesMax: 1 }), {
    failure: { name: 'draining' },
  })
  t.same(await openFiles(stand), [])
})
