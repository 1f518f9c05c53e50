/**
 * Requests that come before an earlier one is answered: no paid answer is lost, and no request runs that a
 * client did not send.
 */
import t, { type Test } from 'tap'
import { TIMER_STEP_MS, Timers } from '../../../src/server/http/timers.ts'
import type { Call } from '../../../src/server/operations/define.ts'
import { AUTHORIZATION, openFront, operation, patient } from '../../support/front.ts'
import { gate } from '../../support/gate.ts'
import { exchangeRaw, rawClient, requestText } from '../../support/wire/raw-http.ts'
import { UNREAD_MS } from '../../../src/server/http/body/socket-reading.ts'

const body = '{"model":"m","input":"x"}'
const authorized = { authorization: AUTHORIZATION }
const sized = { ...authorized, 'content-length': String(body.length) }
const second = requestText('GET /api/v1/second', authorized)
const slow = (path: string): string => requestText(`POST /api/v1/${path}`, sized, body)
const answer = (value: string) => ({ ok: true, value: { kind: 'json', value } }) as const

/** `read` and `paid` begin, and answer when they are let; `second` answers at once. */
async function open(t: Test, timers = patient()) {
  const [begun, let_] = [{ read: gate(), paid: gate() }, gate()]
  let runs = 0
  const run = async (call: Call, name: 'read' | 'paid') => {
    runs++
    if (name === 'paid') call.sent(true)
    begun[name].open()
    await let_.opened
    return answer(name)
  }
  const front = await openFront(
    t,
    [
      operation({ id: 'test.read', path: '/read', run: (call: Call) => run(call, 'read') }),
      operation({
        id: 'test.paid',
        path: '/paid',
        outlivesClient: true,
        run: (call: Call) => run(call, 'paid'),
      }),
      operation({
        id: 'test.second',
        method: 'get',
        path: '/second',
        input: {},
        run: () => answer('second'),
      }),
    ],
    { timers },
  )
  const client = rawClient(front.port)
  t.teardown(() => client.destroy())
  client.send(second)
  await client.until(/"second"$/)
  return { ...front, client, begun, finish: () => let_.open(), runs: () => runs }
}

for (const name of ['read', 'paid'] as const) {
  t.test(
    `a request that arrives while a call of kind ${name} has no answer yet is served in order`,
    async (t) => {
      const { client, begun, finish } = await open(t)
      client.send(slow(name))
      await begun[name].opened
      // After the read that brought the first one.
      for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
      client.send(second)
      for (let turns = 0; turns < 100; turns++) await new Promise(setImmediate)
      t.notMatch(client.text, new RegExp(name))
      finish()
      t.match(await client.until(/"second"/, 2), new RegExp(`"second"[^]*"${name}"[^]*"second"$`))
    },
  )
}

t.test('a charged call keeps its answer, however long it takes and whatever arrives after it', async (t) => {
  let now = 0
  const { client, port, begun, finish } = await open(t, new Timers(() => now))
  const reader = rawClient(port)
  reader.send(slow('read'))
  client.send(slow('paid'))
  await begun.read.opened
  await begun.paid.opened
  for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
  for (const each of [reader, client]) each.send(second)
  now += UNREAD_MS + 2 * TIMER_STEP_MS
  t.equal(await reader.closed(), '', 'the time for which others are not read is over')
  t.notOk(client.isClosed)
  finish()
  t.match(await client.until(/"second"/, 2), /"second"[^]*"paid"[^]*"second"/)
})

t.test('a call does not begin when another request in the same read closes the connection', async (t) => {
  const { port, settled, runs } = await open(t)
  t.equal(await exchangeRaw(port, slow('paid') + second), '')
  await new Promise(setImmediate)
  t.equal(runs(), 0)
  t.match(settled.slice(1), [{ operation: 'test.paid', isClientGone: true }])
  t.equal(settled.length, 2)
})

const HIDDEN = `: b\r\ncontent-length: ${second.length}\r\n\r\n`
for (const method of ['POST', 'PUT', 'PATCH', 'PROPFIND', 'QUERY', 'REPORT']) {
  t.test(`the body of a ${method} with its length after a nameless header is not a request`, async (t) => {
    const { port, settled } = await open(t)
    for (const framing of ['', 'content-length: 0\r\n']) {
      const line = `${method} /api/v1/nowhere HTTP/1.1\r\nhost: localhost\r\n`
      const head = `${line}authorization: ${AUTHORIZATION}\r\n${framing}${HIDDEN}`
      t.notMatch(await exchangeRaw(port, head + second), /second/, 'in one packet')
      t.notMatch(await exchangeRaw(port, `${line}${framing}${HIDDEN}${second}`), /second/, 'without a key')
      const client = rawClient(port)
      client.send(head)
      await client.until(/\}$/)
      client.send(second)
      t.match(await client.closed(), /^HTTP\/1\.1 40[45] [^]*connection: close[^]*\}$/i, 'in two')
    }
    t.equal(settled.filter(({ operation }) => operation === 'test.second').length, 1, 'that of the beginning')
  })
}

t.test('a connection ends after a request with a possible unannounced body, or stays open', async (t) => {
  const { port } = await openFront(t, [
    operation({
      id: 'test.any',
      method: 'any',
      path: '/any/{rest}',
      isAtRoot: true,
      input: { hasRest: true, upload: 'whole' },
    }),
  ])
  const isLast = async (method: string, path: string, more = {}): Promise<boolean> => {
    const client = rawClient(port)
    t.teardown(() => client.destroy())
    client.send(requestText(`${method} ${path}`, more))
    return /^connection: close/im.test(await client.until(/\r\n\r\n/))
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
    t.notOk(await isLast(method, '/api/v1/nowhere'), method)
    t.equal(await isLast(method, '/any/a'), method === 'DELETE', `${method} that is passed on`)
  }
  for (const method of ['POST', 'PATCH', 'QUERY']) {
    for (const path of ['/api/v1/nowhere', '/any/a']) {
      t.ok(await isLast(method, path), `${method} ${path}`)
      t.ok(await isLast(method, path, { 'content-length': '0' }), `${method} ${path} of no bytes`)
    }
  }
})

/** Longer than the time after which the library cuts an idle connection; a test cannot set its clock. */
const BEYOND_IDLE_MS = 12_500

t.test(
  'a call is answered even when it takes longer than a connection may be idle',
  { timeout: 600_000 },
  async (t) => {
    const rested = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, BEYOND_IDLE_MS))
    const run = () => rested().then(() => answer('late'))
    const late = (id: string, outlivesClient: boolean) =>
      operation({ id, path: `/${id}`, outlivesClient, run })
    const { port } = await openFront(t, [late('test.a', false), late('test.b', true)])
    const clients = ['test.a', 'test.b'].map((path) => {
      const client = rawClient(port)
      client.send(slow(path))
      return client
    })
    for (const client of clients) {
      t.match(await client.until(/"late"$/), /^HTTP\/1\.1 200 /)
      client.destroy()
    }
  },
)
