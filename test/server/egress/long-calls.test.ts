/** Long calls to providers: places, connections, leaving. D30, D27. */
import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import type { Caller } from '../../../src/schemas/values/callers.ts'
import { bodyOf, JOINED_BODY_BYTES_MAX } from '../../../src/server/egress/request-body.ts'
import { request } from '../../support/egress/egress-rig.ts'
import { chatRequest, openLongCalls, type LongCallRig } from '../../support/egress/long-call-rig.ts'
import { textOf } from '../../support/egress/vetted-stand.ts'
import { answersChat, refusesChat, silentChat } from '../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../support/inference/fake-provider.ts'
import { Steps, streams } from '../../support/inference/fake-stream.ts'
import { must } from '../../support/must.ts'
import { still, until } from '../../support/wait.ts'
import {
  LONG_CALLS_RETRY_S,
  LONG_CALLS_KEY_SHARE,
  LONG_CALLS_ORGANIZATION_SHARE,
  LONG_CALLS_WORKSPACE_SHARE,
  LongPlaces,
} from '../../../src/server/egress/origin.ts'
import { UPSTREAM_EVENTS_BYTES_MAX } from '../../../src/server/upstream/link.ts'

const LARGE = Buffer.alloc(3 * 1024 * 1024, 'x')

function caller(
  organizationId: string,
  workspaceId = `${organizationId}-w`,
  key = `${workspaceId}-k`,
): Caller {
  return { organizationId, workspaceId, key }
}

/** A client gives a connection back to its pool one turn after the answer. */
async function turn(): Promise<void> {
  for (let nth = 0; nth < 3; nth++) await new Promise((next) => setImmediate(next))
}

t.test('a body of slices is sent unchanged with its length, whatever headers the request has', async (t) => {
  const { provider, exchange } = await openLongCalls(t)
  const body = [Buffer.from('{"model":"m","stream":true,"messages":"'), LARGE, Buffer.from('"}')]
  const headers = ['accept-encoding', 'gzip', 'Content-Length', '1', 'x-a', 'b']
  t.match(await textOf(await exchange({ body, headers })), /\[DONE\]/)
  const [call] = provider.calls
  t.ok(call?.body.equals(Buffer.concat(body)))
  t.match(call?.headers, { 'accept-encoding': 'identity', 'x-a': 'b' })
  t.equal(call?.headers['content-length'], String(Buffer.concat(body).length))
  t.notOk('transfer-encoding' in (call?.headers ?? {}))
})

t.test('parts are sent in order with their length, joined or not', async (t) => {
  const { provider, exchange, rest } = await openLongCalls(t)
  for (const bytes of [0, 1, JOINED_BODY_BYTES_MAX - 4, JOINED_BODY_BYTES_MAX - 3, 300_000]) {
    const body = [Buffer.from('{"'), Buffer.alloc(bytes, 'x'), Buffer.from('"}')]
    const { content } = bodyOf(body)
    t.equal(content instanceof Uint8Array, bytes + 4 <= JOINED_BODY_BYTES_MAX)
    provider.script(refusesChat(404))
    await textOf(await exchange({ body }))
    const call = provider.calls.at(-1)
    t.ok(call?.body.equals(Buffer.concat(body)))
    t.equal(call?.headers['content-length'], String(bytes + 4))
  }
  await rest()
})

t.test(
  'long calls have their own connections, and a connection that was read to its end serves the next call',
  async (t) => {
    const { provider, origin, exchange, rest } = await openLongCalls(t)
    for (const answer of [answersChat(), refusesChat(429), answersChat()]) {
      provider.script(answer)
      await textOf(await exchange())
      await turn()
    }
    t.equal(provider.connections.total, 1)
    const call = must(await origin.call(request({ body: '{}' })))
    call.release()
    t.equal(provider.calls.at(-1)?.connection, 1)
    const long = must(await origin.call(request({ body: '{}', isLong: true })))
    long.release()
    t.equal(provider.calls.at(-1)?.connection, 0)
    await rest()
  },
)

t.test(
  'a front without a free place for long calls, counted over all origins, is busy for a second; a freed place is used again',
  async (t) => {
    const { provider, egress, exchange } = await openLongCalls(t, { longCallsMax: 2 }, silentChat)
    const other = egress.trusted(provider.origin.replace('127.0.0.1', 'localhost'))
    const leaving = new AbortController()
    const open = [exchange({ signal: leaving.signal }), exchange()]
    await provider.arrived(1)
    const refused = { ok: false, failure: { name: 'busy', retryAfterS: LONG_CALLS_RETRY_S } }
    t.match(await other.exchange(chatRequest()), refused)
    t.match(await other.call(request({ isLong: true })), refused)
    leaving.abort()
    t.match(await open[0], { ok: false, failure: { name: 'client_gone' } })
    provider.usually(answersChat())
    t.match(await textOf(await exchange()), /\[DONE\]/)
  },
)

t.test('calls that are not long find room while all places for long calls are taken', async (t) => {
  const { provider, origin, exchange } = await openLongCalls(t, { longCallsMax: 1 }, silentChat)
  const open = exchange()
  await provider.arrived(0)
  provider.script(refusesChat(404))
  t.match(await origin.call(request()), { ok: true, value: { status: 404 } })
  await provider.close()
  await open
})

t.test(
  'an organization, a workspace and a key each get only their share of the places, so that others can still call',
  (t) => {
    const max = 64
    for (const [share, callers] of [
      [LONG_CALLS_ORGANIZATION_SHARE, (nth: number) => caller('o', `w${nth}`, `k${nth}`)],
      [LONG_CALLS_WORKSPACE_SHARE, (nth: number) => caller('o', 'w', `k${nth}`)],
      [LONG_CALLS_KEY_SHARE, () => caller('o', 'w', 'k')],
    ] as const) {
      const places = new LongPlaces(max)
      const taken = Array.from({ length: max }, (_, nth) => places.take(callers(nth)))
      t.equal(taken.filter((is) => is).length, max * share)
      t.ok(places.take(caller('p')))
      t.ok(places.take(undefined))
      places.giveBack(callers(0))
      t.ok(places.take(callers(0)))
      t.notOk(places.take(callers(0)))
    }
    t.end()
  },
)

t.test('exchanges and whole answers count against the share of their caller', async (t) => {
  const { provider, origin, exchange, rest } = await openLongCalls(t, { longCallsMax: 4 }, silentChat)
  const leaving = new AbortController()
  const [one, other] = [caller('o'), caller('p')]
  const open = exchange({ caller: one, signal: leaving.signal })
  const again = { ok: false, failure: { name: 'busy' } }
  t.match(await exchange({ caller: one }), again)
  t.match(await origin.call(request({ caller: one, isLong: true })), again)
  await provider.arrived(0)
  const steps = new Steps()
  provider.script((call, reply) => steps.next().then(() => refusesChat(404)(call, reply)), refusesChat(404))
  const theirs = origin.call(request({ caller: other, isLong: true }))
  await provider.arrived(1)
  t.match(await exchange({ caller: other }), again)
  steps.allow()
  must(await theirs).release()
  t.match(await textOf(await exchange({ caller: other })), /Refused/)
  leaving.abort()
  await open
  await rest()
})

t.test('a finished call removes its listener from its signal', async (t) => {
  const { provider, exchange } = await openLongCalls(t)
  const { signal } = new AbortController()
  for (const signalEnds of ['head', 'response'] as const)
    for (const ending of ['whole', 'rst'] as const) {
      provider.script(answersChat({}, { ending }))
      await textOf(await exchange({ signal, signalEnds }))
      t.equal(getEventListeners(signal, 'abort').length, 0)
    }
})

t.test('a front with one place serves every caller in turn', (t) => {
  const places = new LongPlaces(1)
  for (const who of [caller('o'), caller('p'), undefined]) {
    t.ok(places.take(who))
    t.notOk(places.take(caller('q')))
    places.giveBack(who)
  }
  t.end()
})

const begins: FakeAnswer = streams([{ data: 'first' }], { ending: 'silent' })

for (const [when, answer, read] of [
  ['before the answer', silentChat, 0],
  ['while the provider is silent in its answer', begins, 1],
] as const) {
  t.test(`a disconnect of the caller ${when} closes the provider connection in the same turn`, async (t) => {
    const { provider, exchange, egress } = await openLongCalls(t, {}, answer)
    const leaving = new AbortController()
    const outcome = exchange({ signal: leaving.signal, signalEnds: 'response' })
    const call = await provider.arrived(0)
    const body = read === 0 ? null : must(await outcome).body
    t.equal(await textIn(body?.next()), read === 0 ? null : 'data: first\n\n')
    const waiting = body?.next() ?? outcome
    leaving.abort()
    t.equal(egress.load.calls, 0, 'the client is done with it before the turn is')
    t.match(await waiting, { ok: false, failure: { name: 'client_gone' } })
    await call.closed
    t.equal(provider.connections.total, 1)
  })
}

t.test('a disconnect drops the waiting pieces of its call, and an unsent call is never sent', async (t) => {
  const { provider, exchange } = await openLongCalls(t, {}, begins)
  const leaving = new AbortController()
  const { body } = must(await exchange({ signal: leaving.signal, signalEnds: 'response' }))
  leaving.abort()
  t.match(await body.next(), { ok: false, failure: { name: 'client_gone' } })
  const gone = new AbortController()
  gone.abort()
  t.match(await exchange({ signal: gone.signal }), { ok: false, failure: { name: 'client_gone' } })
  const late = new AbortController()
  let isSent = false
  const never = exchange({ signal: late.signal, sent: (is) => void (isSent = is) })
  late.abort()
  t.match(await never, { ok: false, failure: { name: 'client_gone' } })
  t.notOk(isSent)
  t.equal(provider.calls.length, 1)
})

t.test('by default the signal can end a call only until its response head', async (t) => {
  const { exchange } = await openLongCalls(t)
  const leaving = new AbortController()
  const outcome = await exchange({ signal: leaving.signal })
  leaving.abort()
  t.match(await textOf(outcome), /\[DONE\]/)
})

t.test('a provider is read only as fast as the reader asks, up to the limit in the request', async (t) => {
  const { exchange, rest } = await openLongCalls(t, {}, endless)
  let written = 0
  async function endless(...[call, reply]: Parameters<FakeAnswer>): Promise<void> {
    await reply.head(200, {})
    while (!call.isClosed) {
      await reply.write(LARGE.subarray(0, 16_384))
      written += 16_384
    }
  }
  const { body } = must(await exchange({ aheadBytesMax: UPSTREAM_EVENTS_BYTES_MAX }))
  await until(() => written > UPSTREAM_EVENTS_BYTES_MAX)
  const before = await still(() => written)
  for (let read = 0; read < 2 * before;) read += must(await body.next())?.length ?? 0
  t.ok(written > before)
  body.close()
  await rest()
})

t.test('a request that the provider may have started is not sent again', async (t) => {
  const rig = await openLongCalls(t)
  await textOf(await rig.exchange())
  await turn()
  rig.provider.script((_call, reply) => reply.rst())
  t.equal(await textOf(await rig.exchange()), 'upstream_failed')
  await textOf(await rig.exchange())
  await turn()
  rig.provider.script((_call, reply) => reply.fin())
  t.equal(await textOf(await rig.exchange()), 'upstream_failed')
  t.equal(rig.provider.calls.length, 4)
})

t.test('a connection that was closed while idle fails no call', async (t) => {
  const rig = await openLongCalls(t)
  for (let nth = 0; nth < 5; nth++) {
    t.match(await textOf(await rig.exchange()), /\[DONE\]/)
    rig.provider.closeIdle()
    await until(() => rig.provider.connections.open === 0)
  }
  t.equal(rig.provider.calls.length, 5)
})

t.test('under a mix of endings and disconnecting callers every place is returned', async (t) => {
  const rig = await openLongCalls(t, { longCallsMax: 40 })
  await Promise.all(Array.from({ length: 40 }, (_, nth) => mixed(t, rig, nth)))
  await rig.rest()
  const again = await Promise.all(Array.from({ length: 40 }, () => rig.exchange()))
  t.ok(again.every(({ ok }) => ok))
  for (const outcome of again) await textOf(outcome)
})

async function mixed(t: Test, { provider, exchange }: LongCallRig, nth: number): Promise<void> {
  const ending = (['whole', 'fin', 'rst', 'silent'] as const)[nth % 4] ?? 'whole'
  provider.script(answersChat({}, { ending, cutAt: nth * 13 }))
  const leaving = new AbortController()
  const outcome = await exchange({ signal: leaving.signal, signalEnds: 'response', stallMs: 20 + nth })
  if (nth % 3 === 0) leaving.abort()
  t.type(await textOf(outcome), 'string')
}

/** Null where nothing is read. */
async function textIn(piece: Promise<unknown> | undefined): Promise<string | null> {
  const read = (await piece) as { readonly value: Uint8Array } | undefined
  return read === undefined ? null : Buffer.from(read.value).toString()
}
