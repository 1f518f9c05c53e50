import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import type { Outcome } from '../../src/schemas/failures.ts'
import { BRIEF_SECRETS_BYTES_MAX } from '../../src/schemas/limits/json-limits.ts'
import {
  BACKGROUND_JOB_MS_MAX,
  INLINE_JSON_BYTES_MAX,
  SHORT_JOB_MS_MAX,
} from '../../src/schemas/limits/limits.ts'
import {
  EMBEDDINGS_BODY_BYTES_MAX,
  EMBEDDINGS_DEADLINE_MS,
} from '../../src/schemas/embeddings/embedding-limits.ts'
import { PARSED_NUMBERS_MAX } from '../../src/schemas/models/provider-limits.ts'
import type { ShortJobs } from '../../src/server/ports/short-jobs.ts'
import { openPools } from '../../src/workers/pool.ts'
import { isBriefJob } from '../../src/workers/tasks.ts'
import { diskFailure } from '../../src/server/storage/disk-failure.ts'
import { createIntake } from '../../src/workers/sessions/intake.ts'
import { callerBy } from '../support/keys/callers.ts'
import { plainPng } from '../support/videos/clip-images.ts'
import { clipInput } from '../support/videos/clips.ts'
import { keptLog, SILENT } from '../support/log.ts'
import { must } from '../support/must.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

const open = (t: Test, queueMax = 4, organizationQueueMax = queueMax) => {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax, organizationQueueMax, log: SILENT })
  t.teardown(() => pools.close())
  return pools
}
const bytesOf = (input: string): Uint8Array<ArrayBuffer> => {
  const text = Buffer.from(JSON.stringify({ model: 'm', input }))
  return Uint8Array.from(text)
}
const BY = { caller: callerBy('k') }
const job = (chars = 10) => ({ body: 'embeddings', bytes: bytesOf('x'.repeat(chars)) }) as const

t.test('a large body goes to the thread and its bytes come back without a copy', async (t) => {
  const { jobs } = open(t)
  const input = job(INLINE_JSON_BYTES_MAX)
  const length = input.bytes.length
  const outcome = await jobs.run('read_body', input, { ...BY, transfer: [input.bytes.buffer] })
  t.equal(input.bytes.length, 0, 'the buffer was moved away')
  t.match(outcome, {
    ok: true,
    value: { ok: true, value: { model: 'm' }, bulk: { kind: 'string', count: 1 } },
  })
  if (outcome.ok && outcome.value.ok)
    t.equal(outcome.value.bulk?.json.buffer.byteLength, length, 'the same buffer came back')
})

t.test('a job beyond the bound of the queue is refused as busy', async (t) => {
  const { jobs } = open(t, 2)
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => jobs.run('read_body', job(), BY)))
  t.same(
    outcomes.map((outcome) => (outcome.ok ? 'done' : outcome.failure.name)),
    ['done', 'done', 'done', 'busy'],
  )
  t.match(await jobs.run('read_body', job(), BY), { ok: true }, 'and the queue has room again')
})

const said = (outcome: Outcome<unknown>): string => (outcome.ok ? 'done' : outcome.failure.name)

t.test(
  'organizations get the thread by turns: one that waits with many keeps no other one waiting',
  async (t) => {
    const { jobs } = open(t, 8)
    const order: string[] = []
    const callers = ['flood', 'flood', 'flood', 'flood', 'flood', 'a', 'b', 'a']
    await Promise.all(
      callers.map((caller) =>
        jobs.run('read_body', job(), { caller: callerBy(caller) }).then(() => order.push(caller)),
      ),
    )
    t.same(order.slice(0, 3), ['flood', 'a', 'b'], 'the job that ran counts')
    t.equal(order.at(-1), 'flood')
  },
)

t.test('an organization that has its share of the queue is busy, and others are not', async (t) => {
  const { jobs } = open(t, 8, 2)
  const callers = ['flood', 'flood', 'flood', 'flood', 'a']
  const outcomes = await Promise.all(
    callers.map((caller) => jobs.run('read_body', job(), { caller: callerBy(caller) })),
  )
  t.same(outcomes.map(said), ['done', 'done', 'done', 'busy', 'done'])
})

t.test(
  'in a full queue the youngest job of whoever has the most gives way to those who have fewer',
  async (t) => {
    const { jobs } = open(t, 4)
    const callers = ['flood', 'flood', 'flood', 'flood', 'a', 'b', 'a', 'flood']
    const outcomes = await Promise.all(
      callers.map((caller) => jobs.run('read_body', job(), { caller: callerBy(caller) })),
    )
    t.same(outcomes.map(said), ['done', 'done', 'done', 'busy', 'done', 'done', 'busy', 'busy'])
    t.match(await jobs.run('read_body', job(), BY), { ok: true }, 'and no place is lost')
  },
)

t.test('a job that waits is cancelled by its signal, and the one that runs is not', async (t) => {
  const { jobs } = open(t)
  const leaving = new AbortController()
  const first = jobs.run('read_body', job(), { ...BY, signal: leaving.signal })
  const second = jobs.run('read_body', job(), { ...BY, signal: leaving.signal })
  leaving.abort(new Error('client_gone'))
  t.match(await first, { ok: true })
  t.match(await second, { ok: false, failure: { name: 'client_gone' } })
})

t.test('a job that waits until its end is over is dropped, as is one that comes after it', async (t) => {
  const { jobs } = open(t)
  // Minutes of work: it ends with its pool.
  void jobs.run(
    'embed_lexical',
    {
      texts: Array.from({ length: 60_000 }, () => 'x'),
      firstIndex: 0,
      dimensions: 8_192,
      encoding: 'base64',
    },
    BY,
  )
  t.match(await jobs.run('read_body', job(), { ...BY, endsAt: performance.now() + 1 }), {
    ok: false,
    failure: { name: 'deadline_exceeded' },
  })
  const late = { ...BY, endsAt: performance.now() }
  t.match(await jobs.run('read_body', job(), late), { ok: false, failure: { name: 'deadline_exceeded' } })
})

t.test('a job that crashes is an internal failure and the pool goes on', async (t) => {
  const { jobs } = open(t)
  const broken = { body: 'no such body' as 'embeddings', bytes: bytesOf('x') }
  t.match(await jobs.run('read_body', broken, BY), { ok: false, failure: { name: 'internal' } })
  t.match(await jobs.run('read_body', job(), BY), { ok: true })
})

t.test('the body that takes the most memory fits into a thread', async (t) => {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, jobMsMax: 2 ** 30, log: SILENT })
  t.teardown(() => pools.close())
  // Strings of three bytes and more that differ are an object each.
  const texts = Array.from(
    { length: EMBEDDINGS_BODY_BYTES_MAX / 9 },
    (_, nth) => `"€${(nth + 2_000).toString(36)}"`,
  )
  const hungry = Uint8Array.from(Buffer.from(`{"model":"m","input":[${texts.join(',')}]}`))
  t.match(await pools.jobs.run('read_body', { body: 'embeddings', bytes: hungry }, BY), {
    ok: true,
    value: { ok: true },
  })
})

t.test(
  'the answer and the input that take the most memory fit into a thread, and one more number is refused',
  async (t) => {
    const pools = openPools({
      shortThreads: 1,
      sessionThreads: 1,
      queueMax: 4,
      jobMsMax: 2 ** 30,
      log: SILENT,
    })
    t.teardown(() => pools.close())
    const repeated = (
      head: string,
      unit: string,
      more: { times: number; tail: string },
    ): Uint8Array<ArrayBuffer> =>
      Uint8Array.from(
        Buffer.concat([
          Buffer.from(head),
          Buffer.alloc(unit.length * more.times, unit),
          Buffer.from(more.tail),
        ]),
      )
    const answerOf = (numbers: number) =>
      ({
        protocol: 'cohere',
        encoding: 'float',
        count: 1,
        answer: repeated('{"embeddings":{"float":[[', '1.5,', { times: numbers - 1, tail: '1.5]]}}' }),
      }) as const
    t.match(await pools.jobs.run('decode_embeddings', answerOf(PARSED_NUMBERS_MAX), BY), {
      ok: true,
      value: { ok: true },
    })
    t.match(await pools.jobs.run('decode_embeddings', answerOf(PARSED_NUMBERS_MAX + 2), BY), {
      ok: true,
      value: { ok: false },
    })
    const input = repeated('[', '"a",', { times: (31 * 1024 * 1024) / 4, tail: '"a"]' })
    const writing = {
      protocol: 'google',
      upstreamModel: 'm',
      input,
      dimensions: null,
      inputType: null,
    } as const
    t.match(await pools.jobs.run('encode_embeddings', writing, BY), { ok: true, value: { ok: false } })
  },
)

t.test(
  'a job that outlives the time of a short job is ended with its thread, and the next one runs',
  async (t) => {
    t.ok(SHORT_JOB_MS_MAX < EMBEDDINGS_DEADLINE_MS)
    const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, jobMsMax: 2_000, log: SILENT })
    t.teardown(() => pools.close())
    // One word that is all the same letter: work without end nearly, and hardly more memory than the word
    // takes.
    const texts = ['x'.repeat(50_000_000)]
    const long = { texts, firstIndex: 0, dimensions: 8, encoding: 'base64' } as const
    const outcomes = [pools.jobs.run('embed_lexical', long, BY), pools.jobs.run('read_body', job(), BY)]
    t.match(await Promise.all(outcomes), [
      { ok: false, failure: { name: 'deadline_exceeded' } },
      { ok: true },
    ])
  },
)

t.test(
  'a job that answers later than it returns gets the thread for itself, and its bytes are moved',
  async (t) => {
    const { jobs } = open(t)
    const image = plainPng({ width: 8, height: 8 }, [1, 2, 3])
    const [clip, body] = await Promise.all([
      jobs.run('render_clip', clipInput({ firstFrame: image }), { ...BY, transfer: [image.buffer] }),
      jobs.run('read_body', job(), BY),
    ])
    t.equal(image.length, 0, 'the buffer was moved away')
    if (clip.ok && clip.value.ok)
      t.equal(
        clip.value.mp4.buffer.byteLength,
        clip.value.mp4.length,
        'the buffer of the clip alone came back',
      )
    t.match([clip, body], [{ ok: true, value: { ok: true } }, { ok: true }])
  },
)

t.test('a late job that crashes is an internal failure and the pool goes on', async (t) => {
  const { jobs } = open(t)
  t.match(await jobs.run('render_clip', clipInput({ seconds: 11 }), BY), {
    ok: false,
    failure: { name: 'internal' },
  })
  t.match(await jobs.run('render_clip', clipInput(), BY), { ok: true, value: { ok: true } })
})

t.test('a late job that outlives its time is ended with its thread, and the next one runs', async (t) => {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, jobMsMax: 500, log: SILENT })
  t.teardown(() => pools.close())
  const long = clipInput({ seconds: 10, width: 1_280, height: 720 })
  t.match(await pools.jobs.run('render_clip', long, BY), {
    ok: false,
    failure: { name: 'deadline_exceeded' },
  })
  t.match(await pools.jobs.run('read_body', job(), BY), { ok: true })
})

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

t.test('the threads of a runner start with its first job, and of a front that for bodies', async (t) => {
  let born = 0
  const count = (): void => void born++
  process.on('worker', count)
  t.teardown(() => process.off('worker', count))
  // Node tells of a thread in a later turn.
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

const FACTS = { name: 'A', hosts: ['a.example'], version: '1' }
const secretJob = () => ({
  vault: { vaultId: 'v', workspaceId: 'w' },
  facts: FACTS,
  sealed: new Uint8Array(100),
  sealingKey: new Uint8Array(32),
})
/** Both threads have loaded their code. */
const warm = (jobs: ShortJobs) =>
  Promise.all([jobs.run('read_body', job(), BY), jobs.run('open_secret', secretJob(), BY)])

t.test('a secret is opened while a body is read', async (t) => {
  const { jobs } = open(t)
  await warm(jobs)
  const ended: string[] = []
  const texts = Array.from({ length: 2_000 }, () => 'x')
  const body = jobs
    .run('embed_lexical', { texts, firstIndex: 0, dimensions: 8_192, encoding: 'base64' }, BY)
    .then(() => ended.push('body'))
  const secret = jobs
    .run('open_secret', secretJob(), { caller: callerBy('other') })
    .then((opened) => ended.push(said(opened)))
  await Promise.all([body, secret])
  t.same(ended, ['done', 'body'])
})

t.test('secrets that take longer than a millisecond have no place among those that do not', async (t) => {
  const keys = { fingerprint: new Uint8Array(32), sealing: new Uint8Array(32) }
  const sealing = (bytes: number) => ({
    vault: { vaultId: 'v', workspaceId: 'w' },
    keys,
    secrets: [{ facts: { name: 'A', hosts: [], version: '1' }, value: new Uint8Array(bytes) }],
  })
  t.same(
    [BRIEF_SECRETS_BYTES_MAX, BRIEF_SECRETS_BYTES_MAX + 1].map((bytes) =>
      isBriefJob('seal_secrets', sealing(bytes)),
    ),
    [true, false],
  )
  t.notOk(isBriefJob('read_body', job()))
})

t.test(
  'a thread for bodies ends when there is none for long, and the next body starts another one',
  async (t) => {
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
  },
)

t.test('a runner that ends as its first job comes answers it, and ends without harm', async (t) => {
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

/**
 * The seventeenth field behind the name, which may hold spaces; nothing of a thread that has ended meanwhile.
 */
const niceOf = (file: string): string => {
  try {
    const text = readFileSync(file, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[16] ?? ''
  } catch {
    return ''
  }
}

t.test('closing answers what runs and what waits', async (t) => {
  const { jobs, close } = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, log: SILENT })
  await jobs.run('read_body', job(), BY)
  const outcomes = [jobs.run('read_body', job(30 * 1024 * 1024), BY), jobs.run('read_body', job(), BY)]
  await close()
  for (const outcome of await Promise.all(outcomes))
    t.match(outcome, { ok: false, failure: { name: 'draining' } })
  t.match(await jobs.run('read_body', job(), BY), { ok: false, failure: { name: 'draining' } })
})

t.test('a pool that is closed as soon as it was opened ends without harm', async (t) => {
  for (let i = 0; i < 2; i++)
    await openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, log: SILENT }).close()
  t.pass('the process lives')
})

t.test('a thread that dies idle is told in the log, and another one takes its place', async (t) => {
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

t.test('what short jobs waited for their thread and how long they took is told', async (t) => {
  const pools = open(t)
  t.same(pools.shortJobsLoad, { threads: 2, begun: 0, waitS: 0, busyS: 0 })
  await Promise.all([pools.jobs.run('read_body', job(), BY), pools.jobs.run('read_body', job(), BY)])
  const { begun, waitS, busyS } = pools.shortJobsLoad
  t.equal(begun, 2)
  t.ok(waitS > 0 && busyS > 0, 'the second one waited for the first one')
})
