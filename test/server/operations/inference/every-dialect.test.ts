/** Behaviour common to chat, responses and messages: each scenario runs in every dialect. */
import t, { type Test } from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import { INFERENCE_DEADLINE_MS } from '../../../../src/schemas/inference/inference-limits.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openChat, STUCK } from '../../../support/inference/chat-front.ts'
import {
  DIALECT_ROWS,
  openDialect,
  readBroken,
  type DialectRow,
} from '../../../support/inference/dialect-rows.ts'
import type { FakeReply } from '../../../support/inference/fake-provider.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'

/** A test of each dialect, whose name begins its title. */
function each(title: string, scenario: (row: DialectRow, t: Test) => Promise<void>): void {
  for (const row of DIALECT_ROWS) t.test(`${row.name}: ${title}`, (t) => scenario(row, t))
}

each('an endpoint that fails before its first output leaves no trace, another answers', async (row, t) => {
  const { post, first, rest } = await openDialect(t, row)
  const hello = row.asks('acme/chat', 'Hello there')
  const refusals = [
    ...[row.refuses(500), row.refuses(429), row.refuses(529)],
    (_: unknown, reply: FakeReply) => reply.rst(),
  ]
  const cuts = [
    row.answers(undefined, { cutAt: 0, ending: 'rst' }),
    row.answers(undefined, { cutAt: 100, ending: 'fin' }),
  ]
  for (const [stream, failures] of [
    [true, [...refusals, ...cuts, ...row.failures]],
    [false, refusals],
  ] as const) {
    for (const failure of failures) {
      first.script(failure)
      const response = await post({ ...hello, stream })
      t.equal(response.headers.get('x-sluice-provider'), 'second')
      t.equal(response.headers.get('x-sluice-attempts'), '2')
      const text = await response.text()
      if (!stream) t.match(text, /Hello there, you/)
      else {
        t.equal(row.stated(text), 'Hello there, you')
        t.match(text, row.terminator)
        t.equal(text.match(row.begin)?.length, 1)
      }
    }
  }
  t.equal(await rest(), 0)
})

each('reports a refusal of the request, and tries no other endpoint', async (row, t) => {
  const { post, first, second } = await openDialect(t, row)
  for (const stream of [true, false]) {
    first.script(row.refuses(400, 'No such voice.'))
    const response = await post({ ...row.asks('acme/chat', 'Hello there'), stream })
    t.equal(response.status, 400)
    const error = { message: /No such voice/, metadata: { error_type: 'upstream_refused' } }
    t.match(await response.json(), { error })
  }
  t.equal(second.calls.length, 0)
})

each('a stream that breaks after its first output ends with an error, and is paid', async (row, t) => {
  const spend = keptSpend()
  const { post, first, second } = await openDialect(t, row, { spend })
  for (const ending of ['fin', 'rst'] as const) {
    first.script(row.answers(undefined, { cutAt: row.secondAt, ending }))
    const text = await readBroken(await post({ ...row.asks('acme/chat', 'Hello there'), stream: true }))
    t.equal(row.stated(text), 'Hello')
    t.notMatch(text, row.terminator)
    t.match(row.failureIn(text), row.failureOf('upstream_failed', 502))
  }
  t.equal(second.calls.length, 0, 'nothing is tried again behind an output')
  t.equal(spend.holds.length, 2)
  for (const { end } of spend.holds) t.match(end, { isEstimated: true, provider: 'first' })
})

each('replaces a usage that is not credible by an estimate, and marks the answer', async (row, t) => {
  const spend = keptSpend()
  const { post, first } = await openDialect(t, row, { spend })
  for (const usage of row.unreported) {
    for (const stream of [true, false]) {
      first.script(row.answers(usage))
      const response = await post({ ...row.asks('acme/chat', 'Hello there'), stream })
      t.match(await response.text(), /"is_estimated":true/)
      t.equal(response.headers.get('x-sluice-usage'), stream ? null : 'estimated')
      t.match(spend.holds.at(-1)?.end, { isEstimated: true })
    }
  }
})

each('the head has the duration of each stage until the first output. D32', async (row, t) => {
  const { post } = await openDialect(t, row)
  const [before, ms] = ['auth;dur=MS, limits;dur=MS, validate;dur=MS, ', '\\d+\\.\\d{3}']
  const timed = (stages: string): RegExp => new RegExp(`^${stages.replaceAll('MS', ms)}$`)
  for (const model of ['acme/chat', 'sluice/echo-1']) {
    const streamed = await post({ ...row.asks(model, 'Hello there'), stream: true })
    await streamed.text()
    t.match(streamed.headers.get('server-timing'), timed(`${before}ttft;dur=MS, total;dur=MS`))
    const whole = await post(row.asks(model, 'Hello there'))
    t.match(whole.headers.get('server-timing'), timed(`${before}upstream;dur=MS, ttft;dur=MS, total;dur=MS`))
  }
  const early = await openDialect(t, row, { streamHoldMs: 0 })
  early.first.usually(
    row.answers(undefined, { steps: { next: () => new Promise(() => undefined) } as never }),
  )
  const leaving = new AbortController()
  const held = await early.post({ ...row.asks('acme/one', 'x'), stream: true }, {}, leaving.signal)
  t.match(held.headers.get('server-timing'), timed(`${before}total;dur=MS`), 'no output is there')
  leaving.abort()
})

each('each event leaves before the next one comes', async (row, t) => {
  const { post, first } = await openDialect(t, row)
  const steps = new Steps()
  first.script(row.answers(undefined, { steps }))
  steps.allow(row.wordAt)
  const response = await post({ ...row.asks('acme/chat', 'Hello there'), stream: true })
  const reader = present(response.body).getReader()
  let text = ''
  const untilStated = async (stated: string): Promise<void> => {
    while (row.stated(text) !== stated) text += Buffer.from((await reader.read()).value ?? []).toString()
  }
  await untilStated('Hello')
  for (const written of ['Hello there', 'Hello there,', 'Hello there, you']) {
    steps.allow()
    await untilStated(written)
  }
  steps.allow(99)
  while (!row.terminator.test(text)) text += Buffer.from((await reader.read()).value ?? []).toString()
})

each('a conversation of megabytes is answered', async (row, t) => {
  const { post } = await openChat(t, { path: row.path })
  const answer = await post(row.asks('sluice/echo-1', 'x '.repeat(1_000_000), 'short'))
  t.match(await answer.text(), /"short"[^]*_tokens":1000001/)
})

each('a stream of a front that ends says why in its last event, and is not ended. D21', async (row, t) => {
  const { port, front } = await openChat(t)
  const text = Array.from({ length: 100 }, (_, nth) => `w${nth}`).join(' ')
  const body = JSON.stringify({ ...row.asks('sluice/echo-1:slow', text), stream: true })
  const client = rawClient(port)
  const headers = { authorization: AUTHORIZATION, 'content-length': String(body.length) }
  client.send(requestText(`POST /api/v1${row.path}`, headers, body))
  await client.until(/ w2"/)
  void front.drain(0)
  const stream = await client.closed()
  t.notMatch(stream, row.terminator)
  t.notMatch(stream, /\r\n0\r\n/)
  // Each write of the stream is a chunk of HTTP.
  t.match(row.failureIn(stream.trimEnd().concat('\n\n')), row.failureOf('draining', 503))
})

const STATUSES: Readonly<Record<string, string>> = {
  chat: 'chat.create 402, 404, 502, 503, 524, 529: each has its failure, streamed or whole',
  responses: 'responses.create 402, 404, 502, 503, 524, 529: each has its failure, streamed or whole',
  messages: 'messages.create 402, 404, 502, 503, 524, 529: each has its failure, streamed or whole',
}

for (const row of DIALECT_ROWS)
  t.test(STATUSES[row.name] ?? row.name, async (t) => {
    const { operation, path, asks } = row
    const none = (): void => undefined
    const unwritten = { written: () => false, progress: none, settle: () => null, release: none }
    const hello = asks('sluice/echo-1', 'Hello there')
    const cases: readonly (readonly [number, string, object, Parameters<typeof openChat>[1]])[] = [
      [402, 'credit_exhausted', hello, { spend: { hold: () => fail('credit_exhausted') } }],
      [404, 'model_unknown', asks('sluice/echo-2', 'x'), {}],
      [503, 'store_unavailable', hello, { spend: { hold: () => ({ ok: true, value: unwritten }) } }],
      [524, 'deadline_exceeded', hello, { deadlineMs: 1, inference: STUCK }],
    ]
    for (const [status, failure, body, options] of cases) {
      const { post } = await openChat(t, { path, ...options })
      for (const stream of [false, true]) {
        const response = await post({ ...body, stream })
        t.match(await response.json(), { error: { metadata: { error_type: failure } } })
        t.equal(response.status, status)
      }
    }
    const { post, first, second } = await openDialect(t, row)
    for (const [refusal, status, failure] of [
      [500, 502, 'upstream_failed'],
      [529, 529, 'upstream_overloaded'],
    ] as const) {
      for (const stream of [false, true]) {
        for (const provider of [first, second]) provider.script(row.refuses(refusal))
        const response = await post({ ...asks('acme/chat', 'Hello there'), stream })
        t.match(await response.json(), { error: { metadata: { error_type: failure } } })
        t.equal(response.status, status)
      }
    }
    t.equal(OPERATIONS.find(({ id }) => id === operation)?.deadlineMs, INFERENCE_DEADLINE_MS)
  })
