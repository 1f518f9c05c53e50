import t, { type Test } from 'tap'
import type { Outcome } from '../../src/schemas/failures.ts'
import {
  INLINE_JSON_BYTES_MAX,
  SHORT_JOB_MS_MAX,
  BRIEF_SECRETS_BYTES_MAX,
} from '../../src/schemas/limits/limits.ts'
import {
  EMBEDDINGS_BODY_BYTES_MAX,
  EMBEDDINGS_DEADLINE_MS,
} from '../../src/schemas/embeddings/embedding-limits.ts'
import { openPools } from '../../src/workers/pool.ts'
import { isBriefJob } from '../../src/workers/thread-pools.ts'
import { callerBy } from '../support/keys/callers.ts'
import { clipInput } from '../support/videos/clips.ts'
import { SILENT } from '../support/log.ts'
import { BY, bytesOf, job, secretJob, UNHURRIED_MS, warm } from '../support/pool-jobs.ts'
import { until } from '../support/wait.ts'
import { PARSED_NUMBERS_MAX } from '../../src/workers/decode-embeddings.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

/** The thread of the lane that a test has no job for does not start: a start takes longer than most tests. */
const open = (t: Test, queueMax = 4, { organizationQueueMax = queueMax, jobMsMax = UNHURRIED_MS } = {}) => {
  const pools = openPools({
    ...{ shortThreads: 1, sessionThreads: 1, queueMax, organizationQueueMax, jobMsMax },
    ...{ isLazy: true, log: SILENT },
  })
  t.teardown(() => pools.close())
  return pools
}
/** For tests that leave it as it was: a start of its thread takes longer than most of them. */
const { jobs: usual } = open(t)

t.test('a large body is sent to the thread and returned without a copy', async (t) => {
  const jobs = usual
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

/**
 * One word that is all the same letter: work without end nearly, and hardly more memory than the word takes.
 */
const ENDLESS = {
  texts: ['x'.repeat(50_000_000)],
  firstIndex: 0,
  dimensions: 8,
  encoding: 'base64',
} as const

const text = (outcome: Outcome<unknown>): string => (outcome.ok ? 'done' : outcome.failure.name)

t.test(
  'organizations take turns on the thread: one with many waiting jobs does not hold up others',
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
  const { jobs } = open(t, 8, { organizationQueueMax: 2 })
  const callers = ['flood', 'flood', 'flood', 'flood', 'a']
  const outcomes = await Promise.all(
    callers.map((caller) => jobs.run('read_body', job(), { caller: callerBy(caller) })),
  )
  t.same(outcomes.map(text), ['done', 'done', 'done', 'busy', 'done'])
})

t.test(
  'a full queue drops the newest job of the caller with the most jobs, in favour of callers with fewer',
  async (t) => {
    const jobs = usual
    const callers = ['flood', 'flood', 'flood', 'flood', 'a', 'b', 'a', 'flood']
    const outcomes = await Promise.all(
      callers.map((caller) => jobs.run('read_body', job(), { caller: callerBy(caller) })),
    )
    t.same(outcomes.map(text), ['done', 'done', 'done', 'busy', 'done', 'done', 'busy', 'busy'])
    t.match(await jobs.run('read_body', job(), BY), { ok: true }, 'and no place is lost')
  },
)

t.test('a job that waits is cancelled by its signal, and the one that runs is not', async (t) => {
  const jobs = usual
  const leaving = new AbortController()
  const first = jobs.run('read_body', job(), { ...BY, signal: leaving.signal })
  const second = jobs.run('read_body', job(), { ...BY, signal: leaving.signal })
  leaving.abort(new Error('client_gone'))
  t.match(await first, { ok: true })
  t.match(await second, { ok: false, failure: { name: 'client_gone' } })
})

t.test('drops a job that waits past its deadline, and one that arrives after its deadline', async (t) => {
  const { jobs } = open(t)
  void jobs.run('embed_lexical', ENDLESS, BY)
  t.match(await jobs.run('read_body', job(), { ...BY, endsAt: performance.now() + 1 }), {
    ok: false,
    failure: { name: 'deadline_exceeded' },
  })
  const late = { ...BY, endsAt: performance.now() }
  t.match(await jobs.run('read_body', job(), late), { ok: false, failure: { name: 'deadline_exceeded' } })
})

t.test('a job that crashes is an internal failure and the pool goes on', async (t) => {
  const jobs = usual
  const broken = { body: 'no such body' as 'embeddings', bytes: bytesOf('x') }
  t.match(await jobs.run('read_body', broken, BY), { ok: false, failure: { name: 'internal' } })
  t.match(await jobs.run('read_body', job(), BY), { ok: true })
})

t.test('the body that takes the most memory fits into a thread', async (t) => {
  const jobs = usual
  // Strings of three bytes and more that differ are an object each.
  const texts = Array.from(
    { length: EMBEDDINGS_BODY_BYTES_MAX / 9 },
    (_, nth) => `"€${(nth + 2_000).toString(36)}"`,
  )
  const hungry = Uint8Array.from(Buffer.from(`{"model":"m","input":[${texts.join(',')}]}`))
  t.match(await jobs.run('read_body', { body: 'embeddings', bytes: hungry }, BY), {
    ok: true,
    value: { ok: true },
  })
})

t.test(
  'the answer and the input that take the most memory fit into a thread, and one more number is refused',
  async (t) => {
    const jobs = usual
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
    t.match(await jobs.run('decode_embeddings', answerOf(PARSED_NUMBERS_MAX), BY), {
      ok: true,
      value: { ok: true },
    })
    t.match(await jobs.run('decode_embeddings', answerOf(PARSED_NUMBERS_MAX + 2), BY), {
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
    t.match(await jobs.run('encode_embeddings', writing, BY), { ok: true, value: { ok: false } })
  },
)

t.test(
  'a job that outlives the time of a short job is ended with its thread, and the next one runs',
  async (t) => {
    t.ok(SHORT_JOB_MS_MAX < EMBEDDINGS_DEADLINE_MS)
    const { jobs } = open(t, 4, { jobMsMax: 500 })
    const [first, waiting] = await Promise.all([
      jobs.run('embed_lexical', ENDLESS, BY),
      jobs.run('read_body', job(), BY),
    ])
    t.match(first, { ok: false, failure: { name: 'deadline_exceeded' } })
    t.ok(
      waiting.ok || waiting.failure.name === 'deadline_exceeded',
      'a waiting job is not lost with the thread',
    )
    // It has as little time: while the machine stands still for as long, it is ended as well.
    await until('the next one runs', async () => (await jobs.run('read_body', job(), BY)).ok)
  },
)

t.test('an asynchronous job has the thread for itself, and only its own bytes are returned', async (t) => {
  const { jobs } = open(t)
  const [clip, body] = await Promise.all([
    jobs.run('render_clip', clipInput(), BY),
    jobs.run('read_body', job(), BY),
  ])
  if (clip.ok)
    t.equal(clip.value.buffer.byteLength, clip.value.length, 'the buffer of the clip alone came back')
  t.match([clip, body], [{ ok: true }, { ok: true }])
})

t.test('an asynchronous job that crashes is an internal failure, and the pool continues', async (t) => {
  const jobs = usual
  t.match(await jobs.run('render_clip', clipInput({ seconds: 11 }), BY), {
    ok: false,
    failure: { name: 'internal' },
  })
  t.match(await jobs.run('render_clip', clipInput(), BY), { ok: true })
})

t.test('an asynchronous job above its time limit ends with its thread, and the next one runs', async (t) => {
  const { jobs } = open(t, 4, { jobMsMax: 500 })
  const long = clipInput({ seconds: 10, width: 1_280, height: 720 })
  t.match(await jobs.run('render_clip', long, BY), { ok: false, failure: { name: 'deadline_exceeded' } })
  // It has as little time: while the machine stands still for as long, it is ended as well.
  await until('the next one runs', async () => (await jobs.run('read_body', job(), BY)).ok)
})

t.test('a secret is opened while a body is read', async (t) => {
  const { jobs, close } = open(t)
  await warm(jobs)
  let isReading = true
  const body = jobs.run('embed_lexical', ENDLESS, BY).then((read) => {
    isReading = false
    return text(read)
  })
  t.equal(text(await jobs.run('open_secret', secretJob(), { caller: callerBy('other') })), 'done')
  t.ok(isReading)
  await close()
  t.equal(await body, 'draining')
})

t.test('secrets that take longer than a millisecond do not count as brief jobs', async (t) => {
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

t.test('reports the waiting time and the duration of short jobs', async (t) => {
  const pools = open(t)
  t.same(pools.shortJobsLoad, { threads: 2, begun: 0, waitS: 0, busyS: 0 })
  await Promise.all([pools.jobs.run('read_body', job(), BY), pools.jobs.run('read_body', job(), BY)])
  const { begun, waitS, busyS } = pools.shortJobsLoad
  t.equal(begun, 2)
  t.ok(waitS > 0 && busyS > 0, 'the second one waited for the first one')
})
