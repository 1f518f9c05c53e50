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
  'a call that has not ended with its cell has failed without a token, and is open with one',
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

t.test('a reason does not repeat the key', async (t) => {
  const refused = endOf((call) => {
    call.onHead(401, null)
    call.onBody(Buffer.from(JSON.stringify({ error: { message: `no such key: ${KEY}` } })))
    call.onEnd()
  })
  t.equal(refused?.reason, 'status 401: no such key: …')
})

t.test('calls that wait are served in the order in which they were due', async (t) => {
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
