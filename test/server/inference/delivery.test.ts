/** The delivery of a streamed answer to its caller, as the record of its call shows it. */
import { mock } from 'node:test'
import t from 'tap'
import { ChatEvents } from '../../../src/dialects/chat/answer.ts'
import type { TextCallInput } from '../../../src/server/inference/text-call.ts'
import { FREE_PAYMENT } from '../../support/money/free-spend.ts'
import { NO_PLAN } from '../../support/inference/chat-front.ts'
import { Delivery } from '../../../src/server/inference/record.ts'
import { StreamedText } from '../../../src/server/inference/replies.ts'
import type { EventStream } from '../../../src/server/ports/inference/inference.ts'

t.test('records the time of the first output, and counts every wait for the caller', async (t) => {
  let now = 5
  const delivery = new Delivery(() => now)
  t.same([delivery.firstOutputAt, delivery.stalledMs], [null, 0])
  for (const at of [7, 9]) {
    now = at
    delivery.wrote()
  }
  t.equal(delivery.firstOutputAt, 7)
  for (const ms of [30, 4]) {
    const stalled = delivery.stall(Promise.resolve())
    now += ms
    await stalled
    now += 1_000
  }
  t.equal(delivery.stalledMs, 34)
})

t.test('a stream counts its outputs and its waits for the caller, but not comments. D33', async (t) => {
  const written: string[] = []
  const events = new ChatEvents({ id: 'gen_1', createdS: 1, model: 'a/b' }, { isUsageAlone: false })
  const stream: EventStream = {
    write: (event) => void written.push(Buffer.from(event).toString()),
    isOpen: true,
    hasRoom: false,
    room: () => new Promise((resolve) => setImmediate(resolve)),
    end: () => undefined,
    breakOff: () => undefined,
  }
  const sink = new StreamedText({
    plan: {
      ...NO_PLAN,
      job: { call: { events: () => stream }, head: { id: 'gen_1' }, request: { isStream: true, size: {} } },
    },
    form: { events: () => events },
    ports: {},
  } as unknown as TextCallInput)
  await sink.room()
  sink.openEarly()
  t.equal(written.length, 1)
  t.same([sink.delivery.firstOutputAt, sink.delivery.stalledMs], [null, 0])
  t.notOk(sink.pass(Buffer.from('data: {}\n\n')))
  t.not(sink.delivery.firstOutputAt, null)
  await sink.room()
  t.ok(sink.delivery.stalledMs > 0)
})

t.test('a meter that fails leaves no running timer that would open the stream', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let opened = 0
  const bug = (): never => {
    throw new Error('a bug')
  }
  const shared = {
    streamHoldMs: 10,
    now: () => 0,
    attempts: { run: () => Promise.resolve({ ok: false, failure: { name: 'upstream_failed' } }) },
    meters: { streams: { of: () => ({ called: bug }) } },
  }
  const call = { key: {}, notes: {}, hasEnded: false, watch: () => undefined, events: () => void opened++ }
  const job = { call, models: [], head: { id: 'gen_1' }, request: { isStream: true, size: {} } }
  const sink = new StreamedText({
    plan: { ...NO_PLAN, shared, choices: [], job },
    form: { events: () => ({ silence: Buffer.alloc(0) }) },
    ports: FREE_PAYMENT,
  } as unknown as TextCallInput)
  await t.rejects(sink.pay(), { message: 'a bug' })
  mock.timers.tick(1_000)
  t.equal(opened, 0)
})
