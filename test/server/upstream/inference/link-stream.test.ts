/** What a link to a provider does for models that write. D12, D18, D27. */
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import {
  UPSTREAM_ERROR_BYTES_MAX,
  UPSTREAM_ERROR_MS,
  UPSTREAM_WRITTEN_BYTES_MAX,
} from '../../../../src/schemas/models/provider-limits.ts'
import { ok, type Outcome } from '../../../../src/schemas/failures.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import type { EgressExchange } from '../../../../src/server/ports/egress/egress.ts'
import { bearer } from '../../../../src/server/upstream/credential.ts'
import {
  ProviderLink,
  WRITTEN,
  type LinkStreamAttempt,
  type PostAttempt,
} from '../../../../src/server/upstream/link.ts'
import { failureOf } from '../../../../src/server/upstream/provider-failure.ts'
import { textOf } from '../../../support/egress/vetted-stand.ts'
import { answersPacked } from '../../../support/inference/bodies/packed.ts'
import { answersChat, refusesChat, silentChat, wholeChat } from '../../../support/inference/fake-chat.ts'
import {
  startFakeProvider,
  type FakeAnswer,
  type FakeProvider,
} from '../../../support/inference/fake-provider.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { callerBy } from '../../../support/keys/callers.ts'
import { atPace } from '../../../support/load/pace.ts'
import { must } from '../../../support/must.ts'
import { until } from '../../../support/wait.ts'
import { UPSTREAM_END_MS, readOut, readRefusal } from '../../../../src/server/upstream/inference/framing.ts'

const PATH = '/chat/completions'
const BODY = JSON.stringify({ model: 'm', stream: true, messages: [] })
/** Longer than any run. */
const NEVER_MS = 2 ** 30

interface Rig {
  readonly provider: FakeProvider
  readonly link: ProviderLink
  stream(more?: Partial<LinkStreamAttempt>): Promise<Outcome<EgressExchange>>
  /** Resolves when undici is done with everything. */
  rest(): Promise<void>
}

async function open(t: Test, usual: FakeAnswer = answersChat()): Promise<Rig> {
  const provider = await startFakeProvider(usual)
  const egress = openEgress()
  t.teardown(async () => {
    await egress.close()
    await provider.close()
  })
  const names = { slug: 'p', name: 'P', protocol: 'openai', apiKeyEnv: 'K' } as const
  const facts = { baseUrl: `${provider.origin}/v1/`, timeoutMs: 1, rename: {}, video: null }
  const deps = {
    origin: egress.trusted(provider.origin),
    key: 'the-key-0123456789',
    credentialHeader: bearer,
  }
  const link = new ProviderLink({ ...names, ...facts }, deps)
  return {
    provider,
    link,
    stream: (more) => link.stream(PATH, BODY, { ...attempt(), ...more }),
    rest: () => until(() => egress.load.calls === 0),
  }
}

function attempt(): LinkStreamAttempt & PostAttempt {
  const endsAt = performance.now() + NEVER_MS
  return {
    ...{ beginsBy: endsAt, endsAt, stallMs: NEVER_MS, isCutByLeaving: true },
    ...{ caller: callerBy('o'), call: { signal: new AbortController().signal } },
  }
}

/** undici gives a connection back to its pool one turn after the answer. */
async function turn(): Promise<void> {
  for (let nth = 0; nth < 3; nth++) await new Promise((next) => setImmediate(next))
}

t.test(
  'a stream is requested with the headers of the link and one more hop, and counts as sent',
  async (t) => {
    const { provider, stream } = await open(t)
    const sent: boolean[] = []
    const call = { signal: new AbortController().signal, sent: (is: boolean) => void sent.push(is) }
    t.match(await textOf(await stream({ hops: 2, call })), /\[DONE\]/)
    t.match(provider.calls[0], {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
        authorization: 'Bearer the-key-0123456789',
        'content-type': 'application/json',
        'x-sluice-hops': '3',
      },
    })
    t.equal(provider.calls[0]?.body.toString(), BODY)
    t.same(sent, [true])
  },
)

t.test('a caller that disconnects during a stream ends the stream at the provider', async (t) => {
  const { provider, stream } = await open(t, streams([{ data: 'a' }], { ending: 'silent' }))
  const leaving = new AbortController()
  const { body } = must(await stream({ call: leaving }))
  must(await body.next())
  const waiting = body.next()
  leaving.abort()
  t.match(await waiting, { ok: false, failure: { name: 'client_gone' } })
  await provider.calls[0]?.closed
})

t.test('a compressed stream is decoded; an unknown or incorrect content encoding is invalid', async (t) => {
  const { provider, stream } = await open(t)
  for (const encoding of ['gzip', 'br, gzip']) {
    provider.script(answersChat({}, { headers: { 'content-encoding': encoding }, ending: 'silent' }))
    const outcome = await stream()
    t.equal(await textOf(outcome), 'upstream_invalid')
    must(outcome).body.close()
  }
  const events = gzipSync('data: [DONE]\n\n')
  provider.script(answersPacked('gzip', [events.subarray(0, 12), events.subarray(12)]))
  t.equal(await textOf(await stream()), 'data: [DONE]\n\n')
  provider.script(answersChat({}, { headers: { 'content-encoding': ' Identity' } }))
  t.match(await textOf(await stream()), /\[DONE\]/)
  await until(() => provider.connections.open === 1)
})

t.test('the link ignores the content type of a body and recognizes it by its bytes', async (t) => {
  const { provider, stream } = await open(t)
  for (const type of ['application/json', ' text/html', 'text/plain', '', 'text/event-stream']) {
    provider.script(answersChat({}, { headers: { 'content-type': type } }))
    t.match(await textOf(await stream()), /\[DONE\]/, type)
  }
})

t.test('the text of a refusal is read to find its cause, and its connection is used again', async (t) => {
  const { provider, link, stream } = await open(t)
  provider.script(
    refusesChat(400, { message: 'Too long.', code: 'context_length_exceeded' }),
    refusesChat(429, {}, { 'retry-after': '7' }),
  )
  const refused = failureOf(await readRefusal(must(await stream())), link)
  t.match(refused, { name: 'upstream_refused', metadata: { provider_code: 'context_length_exceeded' } })
  t.match(refused.detail, /Too long/)
  await turn()
  const busy = failureOf(await readRefusal(must(await stream())), link)
  t.match(busy, { name: 'upstream_overloaded', retryAfterS: 7 })
  t.equal(provider.connections.total, 1)
})

t.test('reads a limited number of bytes of a refusal, also when it is compressed', async (t) => {
  const { provider, stream, rest } = await open(t)
  const endless: FakeAnswer = async (call, reply) => {
    await reply.head(500, {})
    while (!call.isClosed) await reply.write('x'.repeat(9_999))
  }
  provider.script(endless)
  t.equal((await readRefusal(must(await stream()))).body.length, UPSTREAM_ERROR_BYTES_MAX)
  await rest()
  let reads = 0
  const next = (): Promise<Outcome<Uint8Array>> => (reads++, Promise.resolve(ok(Buffer.alloc(16_384))))
  const body = { next, close: () => undefined }
  await readRefusal({ status: 500, isSuccess: false, headers: [], header: () => null, body })
  t.equal(reads, UPSTREAM_ERROR_BYTES_MAX / 16_384)
  const packed = (bytes: Buffer): FakeAnswer => answersPacked('gzip', [gzipSync(bytes)], { status: 400 })
  provider.script(
    packed(Buffer.from('{"error":"no"}')),
    packed(Buffer.alloc(UPSTREAM_ERROR_BYTES_MAX * 1_000)),
  )
  const refusal = await readRefusal(must(await stream()))
  t.equal(Buffer.from(refusal.body).toString(), '{"error":"no"}')
  t.equal((await readRefusal(must(await stream()))).body.length, UPSTREAM_ERROR_BYTES_MAX)
  provider.script(answersPacked('gzip', [Buffer.from('{}')], { status: 400 }))
  t.match(await readRefusal(must(await stream())), { status: 400, body: { length: 0 } })
})

for (const [how, ending] of [
  ['is late', 'silent'],
  ['breaks off', 'rst'],
] as const) {
  t.test(`a refusal whose text ${how} is still that refusal, with the part that came`, async (t) => {
    const { provider, stream, rest } = await open(t)
    provider.script(streams([{ data: 'some' }], { status: 503, ending, isTerminated: false }))
    const answer = await readRefusal(must(await stream()), how === 'is late' ? 20 : UPSTREAM_ERROR_MS)
    t.match(answer, { status: 503, isSuccess: false, retryAfter: null })
    t.ok(['', 'data: some'].includes(Buffer.from(answer.body).toString()))
    await rest()
  })
}

t.test(
  'after the last event, the rest is read so that the connection can be reused, and an endless rest is cut',
  async (t) => {
    const { provider, stream, rest } = await open(t)
    const { body } = must(await stream())
    for (let text = ''; !text.includes('[DONE]');)
      text += Buffer.from(must(await body.next()) ?? []).toString()
    await readOut(body, UPSTREAM_END_MS)
    await turn()
    provider.script(streams([{ data: '[DONE]' }], { ending: 'silent' }))
    const second = must(await stream())
    t.equal(provider.connections.total, 1)
    await readOut(second.body, 20)
    await provider.calls[1]?.closed
    await rest()
  },
)

t.test(
  'an unstreamed answer uses the connections of long calls, has its own size limit, and is requested once',
  async (t) => {
    const { provider, link, stream, rest } = await open(t)
    const post = (): ReturnType<ProviderLink['post']> => link.post(PATH, '{"model":"m"}', attempt(), WRITTEN)
    must(await post()).release()
    await turn()
    await textOf(await stream())
    await turn()
    t.equal(provider.connections.total, 1, 'the connection of the whole answer serves the stream')
    t.match(provider.calls[0]?.headers, { accept: 'application/json', 'x-sluice-hops': '1' })
    provider.script((_call, reply) => reply.rst())
    t.match(await post(), { ok: false, failure: { name: 'upstream_failed' } })
    t.equal(provider.calls.length, 3)
    provider.script(wholeChat({ words: ['x'.repeat(UPSTREAM_WRITTEN_BYTES_MAX)] }))
    t.match(await post(), { ok: false, failure: { name: 'upstream_too_large' } })
    provider.usually(silentChat)
    await atPace(50, async (ms) => {
      const leaving = new AbortController()
      const before = provider.calls.length
      const late = { ...attempt(), call: leaving, endsAt: performance.now() + ms }
      let isOver = false
      const waiting = link.post(PATH, '{}', late, WRITTEN).finally(() => (isOver = true))
      await until('it has arrived', () => isOver || provider.calls.length > before)
      // Its time was over before it was there.
      if (isOver) return false
      leaving.abort()
      t.match(
        await waiting,
        { ok: false, failure: { name: 'upstream_slow' } },
        'a caller who leaves cuts it not. C24',
      )
      return true
    })
    await rest()
  },
)
