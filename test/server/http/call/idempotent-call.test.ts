/** `idempotent: true` from the wire down to the table: what a create gains by that one fact. C16. */
import Type from 'typebox'
import t, { type Test } from 'tap'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../../../src/schemas/limits/idempotency-limits.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { openApiOf } from '../../../../src/server/http/reference/openapi.ts'
import { buildRouteTable } from '../../../../src/server/http/call/route-table.ts'
import type { Call, Operation, Success } from '../../../../src/server/operations/define.ts'
import type { Idempotency } from '../../../../src/server/ports/idempotency.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { openIdempotency } from '../../../../src/server/store/base/idempotency.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { AUTHORIZATION, openFront, operation, OTHER_KEY, type TestFront } from '../../../support/front.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'

type Run = (call: Call, count: number) => Promise<Outcome<Success>> | Outcome<Success>

interface Stand extends TestFront {
  readonly store: Store
  /** How often the operation ran. */
  readonly runs: () => number
  post(init?: {
    readonly body?: string
    readonly key?: string
    readonly query?: string
    readonly as?: string
    readonly signal?: AbortSignal
  }): Promise<Answer>
}

interface Answer {
  readonly status: number
  readonly replayed: string | null
  readonly retryAfter: string | null
  readonly text: string
  readonly type: string | undefined
}

const answer: Run = (_call, count) => ok({ kind: 'json', value: { nth: count } })
const body = (input = 'x'): string => JSON.stringify({ model: 'm', input })

async function openStand(
  t: Test,
  run: Run = answer,
  more: Partial<Operation> = {},
  waitMs = 2 ** 30,
): Promise<Stand> {
  const store = await openTestStore(t)
  const idempotency = openIdempotency({ store, now: () => performance.now(), random: Math.random, waitMs })
  t.teardown(async () => idempotency.close())
  let count = 0
  const create = operation({
    idempotent: true,
    outlivesClient: true,
    statuses: [400, 409, 500, 503],
    input: {
      body: 'embeddings',
      query: Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }),
    },
    run: (call: Call) => run(call, ++count),
    ...more,
  })
  const front = await openFront(t, [create], { ports: { idempotency } as unknown as Ports })
  return {
    ...front,
    store,
    runs: () => count,
    async post({ body: sent = body(), key = 'k', query = '', as, signal } = {}) {
      const headers = {
        authorization: as === undefined ? AUTHORIZATION : `Bearer ${as}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      }
      const reply = await fetch(`${front.url}/api/v1/echo${query}`, {
        method: 'POST',
        headers,
        body: sent === '' ? null : sent,
        ...(signal !== undefined && { signal }),
      })
      const text = await reply.text()
      const { error } = JSON.parse(text) as { error?: { metadata: { error_type: string } } }
      const of = (name: string): string | null => reply.headers.get(name)
      return {
        status: reply.status,
        replayed: of('idempotent-replayed'),
        retryAfter: of('retry-after'),
        text,
        type: error?.metadata.error_type,
      }
    },
  }
}

t.test(
  'the same call gets the first answer again, byte for byte, and runs once; without the header every call is new',
  async (t) => {
    const { post, runs, url } = await openStand(t)
    const first = await post()
    t.match(first, { status: 200, replayed: null, text: '{"nth":1}' })
    t.match(await post(), { status: 200, replayed: 'true', text: first.text })
    t.equal(runs(), 1)
    const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
    t.equal(
      await (await fetch(`${url}/api/v1/echo`, { method: 'POST', headers, body: body() })).text(),
      '{"nth":2}',
    )
  },
)

t.test('a success with another status is replayed with that status', async (t) => {
  const { post } = await openStand(t, answer, { success: { status: 201, body: Type.Object({}) } })
  t.same([(await post()).status, (await post()).status], [201, 201])
})

t.test(
  'another body or query is refused, with 422 or 409 where listed, else 400; a reordered query is the same',
  async (t) => {
    for (const [statuses, status] of [
      [[400, 409, 422], 422],
      [[400, 409], 409],
      [[400], 400],
    ] as const) {
      const { post, runs } = await openStand(t, answer, { statuses })
      await post({ query: '?a=1&b=2' })
      t.match(await post({ query: '?b=2&a=1' }), { status: 200, replayed: 'true' })
      t.match(await post({ query: '?a=1&b=2', body: body('y') }), { status, type: 'idempotency_mismatch' })
      t.match(await post({ query: '?a=1&b=3' }), { status, type: 'idempotency_mismatch' })
      t.equal(runs(), 1)
    }
  },
)

t.test('a body that is read in a thread is also compared', async (t) => {
  const { post, runs } = await openStand(t)
  const large = body('x'.repeat(INLINE_JSON_BYTES_MAX))
  t.match(
    [await post({ body: large }), await post({ body: large })],
    [{ replayed: null }, { replayed: 'true' }],
  )
  t.match(await post({ body: large.replace('xx', 'xy') }), { type: 'idempotency_mismatch' })
  t.equal(runs(), 1)
})

t.test('replays an operation without a body', async (t) => {
  const { post, runs } = await openStand(t, answer, { input: {} })
  t.match([await post({ body: '' }), await post({ body: '' })], [{ replayed: null }, { replayed: 'true' }])
  t.equal(runs(), 1)
})

t.test('the same idempotency key from another caller is a different key', async (t) => {
  const { post, runs } = await openStand(t)
  await post()
  t.match(await post({ as: OTHER_KEY }), { replayed: null })
  t.equal(runs(), 2)
})

t.test('a key that is empty or too long is refused before anything runs', async (t) => {
  const { post, runs } = await openStand(t)
  t.match(await post({ key: '' }), { status: 400, type: 'header_invalid' })
  t.match(await post({ key: 'x'.repeat(IDEMPOTENCY_KEY_CHARS_MAX + 1) }), {
    status: 400,
    type: 'header_invalid',
  })
  t.match(await post({ key: 'x'.repeat(IDEMPOTENCY_KEY_CHARS_MAX) }), { status: 200 })
  t.equal(runs(), 1)
})

t.test('a repetition waits for the first call with its body unread, and gets that answer', async (t) => {
  let release = (): void => undefined
  const gate = new Promise<void>((go) => (release = go))
  const { post, port, runs } = await openStand(t, async (call, count) => {
    await gate
    return answer(call, count)
  })
  const first = post()
  while (runs() === 0) await new Promise((next) => setImmediate(next))
  const client = rawClient(port)
  client.send(
    `POST /api/v1/echo HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZATION}\r\ncontent-type: application/json\r\n` +
      `idempotency-key: k\r\ncontent-length: ${body().length}\r\n\r\n`,
  )
  const second = post()
  release()
  client.send(body())
  t.match(
    [await first, await second],
    [
      { text: '{"nth":1}', replayed: null },
      { text: '{"nth":1}', replayed: 'true' },
    ],
  )
  t.match(await client.until(/\{"nth":1\}/), /^HTTP\/1.1 200 /)
  t.equal(runs(), 1)
})

t.test('a repetition that has waited too long gets 503 where listed, else 500', async (t) => {
  for (const [statuses, status] of [
    [[400, 503], 503],
    [[400], 500],
  ] as const) {
    let release = (): void => undefined
    const gate = new Promise<void>((go) => (release = go))
    const { post, runs } = await openStand(
      t,
      async (call, count) => {
        await gate
        return answer(call, count)
      },
      { statuses },
      0,
    )
    const first = post()
    while (runs() === 0) await new Promise((next) => setImmediate(next))
    t.match(await post(), { status, type: 'idempotency_running', retryAfter: '5' })
    release()
    await first
  }
})

t.test(
  'waiting does not shorten the time of the call, and an operation that misses its deadline keeps its key until it ends',
  async (t) => {
    let release = (): void => undefined
    const gate = new Promise<void>((go) => (release = go))
    const run: Run = async (call, count) => {
      await gate
      return answer(call, count)
    }
    const { post, runs } = await openStand(t, run, { deadlineMs: 500 })
    const first = post()
    while (runs() === 0) await new Promise((next) => setImmediate(next))
    const second = post()
    t.match(await first, { type: 'deadline_exceeded' })
    // A whole deadline passes once more while the repetition waits.
    t.match(await post({ key: 'other' }), { type: 'deadline_exceeded' })
    release()
    t.match(await second, { text: '{"nth":1}', replayed: 'true' })
  },
)

t.test('remembers no failures: neither of validation, nor of the operation, nor a bug', async (t) => {
  const run: Run = (call, count) => {
    if (count === 1) return fail('upstream_refused')
    if (count === 2) throw new Error('a bug')
    return answer(call, count)
  }
  const { post } = await openStand(t, run, {}, 0)
  t.match(await post({ body: '{}' }), { status: 400, type: 'body_invalid' })
  t.match(await post({ body: '{', query: '?a=1' }), { status: 400, type: 'body_malformed' })
  t.match(await post(), { status: 400, type: 'upstream_refused' })
  t.match(await post({ query: '?a=2' }), { status: 500, type: 'internal' })
  t.match(await post(), { status: 200, text: '{"nth":3}', replayed: null })
  t.match(await post(), { status: 200, text: '{"nth":3}', replayed: 'true' })
})

t.test('a client that disconnects before its body is complete leaves the key free', async (t) => {
  const { port, post, store, untilSettled } = await openStand(t)
  const client = rawClient(port)
  client.send(
    `POST /api/v1/echo HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZATION}\r\ncontent-type: application/json\r\n` +
      'idempotency-key: k\r\ncontent-length: 1000\r\n\r\n{',
  )
  while ((await store.sql`SELECT 1 FROM idempotency`).length === 0);
  client.destroy()
  await untilSettled(1)
  t.match(await post(), { status: 200, replayed: null })
})

t.test(
  'a call that fails while its body arrives does not run when the rest arrives during its cleanup',
  async (t) => {
    const turn = (): Promise<void> => new Promise((next) => setImmediate(next))
    let [hasBegun, runs] = [false, 0]
    const idempotency: Idempotency = {
      async begin() {
        hasBegun = true
        return ok({ kind: 'first', claim: { id: 'x', attempt: 1 } })
      },
      remember: async () => undefined,
      async forget() {
        client.send(body().slice(5))
        for (let turns = 0; turns < 200 && runs === 0; turns++) await turn()
      },
    }
    const create = operation({
      idempotent: true,
      outlivesClient: true,
      run: (call: Call) => answer(call, ++runs),
    })
    const { port, front, settled, untilSettled } = await openFront(t, [create], {
      ports: { idempotency } as unknown as Ports,
    })
    const client = rawClient(port)
    t.teardown(() => client.destroy())
    const headers = {
      authorization: AUTHORIZATION,
      'idempotency-key': 'k',
      'content-length': String(body().length),
    }
    client.send(requestText('POST /api/v1/echo', headers, body().slice(0, 5)))
    while (!hasBegun) await turn()
    await turn()
    await front.drain(0)
    await untilSettled(1)
    t.match(settled, [{ failure: 'draining' }])
    t.equal(runs, 0)
  },
)

t.test('remembers the answer of a call that continued after its client disconnected', async (t) => {
  let release = (): void => undefined
  const gate = new Promise<void>((go) => (release = go))
  const { post, runs } = await openStand(t, async (call, count) => {
    await gate
    return answer(call, count)
  })
  const leaving = new AbortController()
  const left = post({ signal: leaving.signal })
  while (runs() === 0) await new Promise((next) => setImmediate(next))
  leaving.abort()
  await t.rejects(left)
  release()
  t.match(await post(), { text: '{"nth":1}', replayed: 'true' })
})

t.test('an operation gets its idempotency claim, so that its store can keep the answer itself', async (t) => {
  const turns: unknown[] = []
  const { post } = await openStand(t, (call, count) => {
    turns.push(call.claim, call.idempotency)
    return answer(call, count)
  })
  await post()
  t.match(turns, [{ id: /^[0-9a-f]{64}$/, attempt: 1 }, { key: 'k' }])
})

t.test('the API description of an idempotent operation names header, replay and failures', async (t) => {
  const described = (more: Partial<Operation>) =>
    JSON.stringify(openApiOf([operation({ statuses: [400, 409, 503], ...more })]))
  for (const word of [
    '"idempotency-key"',
    '"idempotent-replayed"',
    '`idempotency_mismatch`',
    '`idempotency_running`',
  ]) {
    t.ok(described({ idempotent: true }).includes(word), word)
    t.notOk(described({}).includes(word), word)
  }
})

t.test('an operation with a stream or without an answer body cannot be idempotent', async (t) => {
  t.throws(
    () => buildRouteTable([operation({ idempotent: true, input: { upload: 'raw' } })]),
    /cannot have an upload/,
  )
  t.throws(
    () => buildRouteTable([operation({ idempotent: true, success: { status: 204, body: null } })]),
    /needs an answer body/,
  )
})
