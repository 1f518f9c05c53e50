import t from 'tap'
import { StreamedCall } from '../../../bench/streams/call.ts'
import { DueCalls } from '../../../bench/streams/due-calls.ts'
import { NO_SLO } from '../../../bench/streams/slo.ts'
import { Tally, type EndedCall } from '../../../bench/streams/tally.ts'
import { chatEvents, KEY } from './fake-provider.ts'

/** What becomes of a call that was sent. */
function endOf(conduct: (call: StreamedCall) => void): EndedCall | undefined {
  const ended: EndedCall[] = []
  const call = new StreamedCall(0, Buffer.alloc(0), {
    dialect: 'chat',
    tally: new Tally(1, NO_SLO),
    key: KEY,
    now: () => 1,
    again: () => undefined,
    over: (_call, one) => ended.push(one),
  })
  call.sent()
  conduct(call)
  return ended[0]
}

t.test(
  'a call that has not ended when its cell ends has failed if it got no token, and is open otherwise',
  async (t) => {
    t.match(
      endOf((call) => call.leave()),
      { outcome: 'failed', reason: /no token/ },
    )
    const open = endOf((call) => {
      call.onHead(200, null)
      call.onBody(Buffer.from(chatEvents(['one'], false)))
      call.leave()
    })
    t.match(open, { outcome: 'open', tokenEvents: 1 })
  },
)

t.test('the reason of a failure does not contain the key', async (t) => {
  const refused = endOf((call) => {
    call.onHead(401, null)
    call.onBody(Buffer.from(JSON.stringify({ error: { message: `no such key: ${KEY}` } })))
    call.onEnd()
  })
  t.equal(refused?.reason, 'status 401: no such key: …')
})

t.test('waiting calls are sent in the order in which they were due', async (t) => {
  const due = new DueCalls()
  const [taken, expected]: [(number | undefined)[], number[]] = [[], []]
  for (let nth = 0; nth < 10_000; nth++) {
    due.push(nth)
    if (nth % 3 > 0) expected.push(taken.push(due.shift()) - 1)
  }
  t.equal(due.size, 3_334)
  while (due.size > 0) expected.push(taken.push(due.shift()) - 1)
  t.same(taken, expected)
  t.equal(due.shift(), undefined)
})

interface Stage {
  readonly ended: EndedCall[]
  /** @param ms from the start of the cell */
  at(ms: number): StreamedCall
}

/** A call that was due at 100 ms. */
function stage(): Stage {
  let now = 0
  const ended: EndedCall[] = []
  const call = new StreamedCall(100, Buffer.from('x'), {
    dialect: 'chat',
    tally: new Tally(10, NO_SLO),
    key: KEY,
    now: () => now,
    again: () => undefined,
    over: (_call, one) => void ended.push(one),
  })
  return { ended, at: (ms) => ((now = ms), call) }
}

const event = (content: string): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`)

t.test('the time of a call begins when it was due, however long it waited for a connection', async (t) => {
  const { ended, at } = stage()
  at(600).sent()
  at(650).onHead(200, null)
  at(700).onBody(event('a'))
  at(720).onBody(event('b'))
  at(760).onBody(event('c'))
  at(800).onBody(Buffer.from('data: [DONE]\n\n'))
  at(810).onEnd()
  const times = { dueMs: 100, sentMs: 600, firstMs: 600, meanGapMs: 30, maxGapMs: 40, endedMs: 810 }
  t.match(ended, [{ ...times, tokenEvents: 3, outcome: 'whole' }])
})

t.test('events that arrive in one read are tokens of the same instant', async (t) => {
  const { ended, at } = stage()
  at(100).sent()
  at(110).onHead(200, null)
  at(150).onBody(Buffer.from(chatEvents(['a', 'b', 'c'])))
  at(160).onEnd()
  t.match(ended, [{ firstMs: 50, tokenEvents: 3, tokens: 3, meanGapMs: 0 }])
})

t.test('a stream whose connection breaks after its last event counts as whole, and ends once', async (t) => {
  const { ended, at } = stage()
  at(100).sent()
  at(110).onHead(200, null)
  at(150).onBody(Buffer.from(chatEvents(['a'])))
  at(160).onBroken('ECONNRESET')
  at(170).onEnd()
  t.match(ended, [{ outcome: 'whole' }])
  t.equal(ended.length, 1)
})
