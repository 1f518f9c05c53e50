import t from 'tap'
import { openBroadcast, type Broadcast, type BroadcastPost } from '../../../src/server/observe/broadcast.ts'
import { keptLog } from '../../support/log.ts'
import { until } from '../../support/wait.ts'

const CALL = { requestId: 'r-1', operation: 'embeddings.create', model: 'a/b', sessionId: null }

t.test('trace objects are posted complete, in one batch', async (t) => {
  const { broadcast, posts, counts } = open(async () => true)
  const whole = { trace_id: 't', extra: { deep: [1] } }
  broadcast.offer(whole, CALL)
  broadcast.offer({ trace_id: 'u' }, { ...CALL, sessionId: 's' })
  await broadcast.close()
  t.match(posts, [
    {
      url: 'http://receiver/',
      traces: [
        {
          request_id: 'r-1',
          operation: 'embeddings.create',
          model: 'a/b',
          session_id: null,
          trace: { trace_id: 't', extra: { deep: [1] } },
        },
        { session_id: 's', trace: { trace_id: 'u' } },
      ],
    },
  ])
  t.same(counts, { sent: 2, dropped: 0, failed: 0 })
})

t.test('a stalled receiver blocks nothing: the queue is bounded and the overflow counted', async (t) => {
  const { broadcast, posts, counts } = open(() => new Promise(() => undefined), { postMsMax: 20 })
  for (let i = 0; i < 20_000; i += 1) broadcast.offer({ trace_id: String(i) }, CALL)
  t.equal(posts.length, 1, 'one post at a time')
  t.equal(counts.dropped, 15_000)
  await broadcast.close()
  t.equal(counts.sent, 0)
  t.equal(counts.dropped + counts.failed, 20_000, 'every one is accounted for')
})

t.test('the bytes of queued trace objects are limited', async (t) => {
  const { broadcast, counts } = open(() => new Promise(() => undefined), { postMsMax: 20 })
  broadcast.offer({ trace_name: 'x'.repeat(70_000) }, CALL)
  t.equal(counts.dropped, 1, 'one that is too large')
  broadcast.offer({ trace_name: 'é'.repeat(40_000) }, CALL)
  t.equal(counts.dropped, 2, 'and one of fewer characters than bytes')
  for (let i = 0; i < 200; i += 1) broadcast.offer({ trace_name: 'x'.repeat(60_000) }, CALL)
  t.ok(counts.dropped > 50, 'the rest beyond eight mebibytes')
  await broadcast.close()
})

t.test('a batch is tried three times and then dropped; the next one is sent', async (t) => {
  let answers = [false, false, false]
  const { broadcast, posts, counts, ticks } = open(async () => answers.shift() ?? true, { flushMs: 1 })
  broadcast.offer({ trace_id: 'lost' }, CALL)
  await ticks(() => counts.failed === 1)
  t.equal(posts.length, 3)
  broadcast.offer({ trace_id: 'kept' }, CALL)
  await ticks(() => counts.sent === 1)
  t.match(posts.at(-1), { traces: [{ trace: { trace_id: 'kept' } }] })
  answers = []
  await broadcast.close()
})

t.test('a receiver that throws counts as a failed post, logged once', async (t) => {
  const { broadcast, counts, log, ticks } = open(() => Promise.reject(new Error('refused')), { flushMs: 1 })
  broadcast.offer({}, CALL)
  await ticks(() => counts.failed === 1)
  await broadcast.close()
  t.same(
    log.events.map(({ event }) => event),
    ['broadcast_failing'],
  )
})

function open(
  post: BroadcastPost,
  more: { flushMs?: number; postMsMax?: number } = {},
): {
  broadcast: Broadcast
  posts: unknown[]
  counts: Record<'sent' | 'dropped' | 'failed', number>
  log: ReturnType<typeof keptLog>
  ticks(isTrue: () => boolean): Promise<void>
} {
  const posts: unknown[] = []
  const counts = { sent: 0, dropped: 0, failed: 0 }
  const log = keptLog()
  const broadcast = openBroadcast({
    url: 'http://receiver/',
    post(url, json) {
      posts.push({ url, ...JSON.parse(Buffer.from(json).toString()) })
      return post(url, json)
    },
    log,
    count: (outcome, count) => void (counts[outcome] += count),
    flushMs: 60_000,
    ...more,
  })
  const ticks = async (isTrue: () => boolean): Promise<void> => {
    await until(() => isTrue())
  }
  return { broadcast, posts, counts, log, ticks }
}
