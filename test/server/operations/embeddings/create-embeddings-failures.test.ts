import t from 'tap'
import { KEY, OTHER_KEY } from '../../../support/front.ts'
import {
  answers,
  hangsUp,
  neverAnswers,
  redirects,
  refuses,
  resetsInBody,
  sends,
  sendsBrokenGzip,
  sendsHalfJson,
  sendsHtml,
  sendsHuge,
  stallsInBody,
  truncatesBody,
  type Behaviour,
} from '../../../support/embeddings/provider-behaviours.ts'
import { atPace } from '../../../support/load/pace.ts'
import {
  openEmbeddings,
  PROVIDER_KEY,
  type EmbeddingsReply,
} from '../../../support/embeddings/embeddings-front.ts'

/** A clock that shows the instant of its making. */
const stopped = (): (() => number) => {
  const at = performance.now()
  return () => at
}

const ONE = { model: 'acme/one', input: 'one two three' }

function failureOf({ status, body }: EmbeddingsReply): string {
  return `${status} ${String(body.error?.metadata['error_type'])}`
}

t.test(
  'embeddings.create 400: an input that no endpoint accepts, and a model without embeddings',
  async (t) => {
    const { post, first, foreign, settled } = await openEmbeddings(t)
    const picture = (url: string) => [{ content: [{ type: 'image_url', image_url: { url } }] }]
    t.equal(
      failureOf(await post({ model: 'acme/one', input: picture('data:image/png;base64,AAAA') })),
      '400 input_unsupported',
    )
    t.equal(failureOf(await post({ model: 'acme/cohere', input: [1, 2] })), '400 input_unsupported')
    t.equal(
      failureOf(await post({ model: 'acme/gemini', input: picture('https://example.com/a.png') })),
      '400 input_unsupported',
    )
    const video = [{ content: [{ type: 'input_video', input_video: { data: 'AAAA' } }] }]
    t.equal(failureOf(await post({ model: 'acme/gemini', input: video })), '400 input_unsupported')
    t.equal(failureOf(await post({ model: 'sluice/lexical-1', input: [[1]] })), '400 input_unsupported')
    t.equal(
      failureOf(await post({ model: 'sluice/lexical-1', input: 'x', dimensions: 8193 })),
      '400 body_invalid',
    )
    t.equal(failureOf(await post({ model: 'acme/chat', input: 'x' })), '400 model_unfit')
    t.equal(failureOf(await post(ONE, { 'x-session-id': 'x'.repeat(257) })), '400 header_invalid')
    t.equal(settled.at(-1)?.notes.sessionId, undefined, 'what is too long is not kept')
    t.equal(first.calls.length + foreign.calls.length, 0)
  },
)

t.test(
  'embeddings.create 400: the provider refuses the input; its reason is returned without links and without the operator key',
  async (t) => {
    const { post, first, second } = await openEmbeddings(t)
    first.script(refuses(400, `Input is too long, see https://provider.example/help; key ${PROVIDER_KEY}`))
    const reply = await post({ model: 'acme/embed', input: 'x' })
    t.equal(failureOf(reply), '400 upstream_refused')
    t.match(reply.body.error, {
      message: /Input is too long, see \[link\]/,
      metadata: { provider_name: 'First', provider_code: 'scripted' },
    })
    t.notMatch(reply.text, PROVIDER_KEY)
    t.equal(second.calls.length, 0, 'another endpoint would refuse it too')
  },
)

t.test(
  'embeddings.create 404: an unknown model, preferences that exclude every endpoint, and no endpoint that is set up',
  async (t) => {
    const { post } = await openEmbeddings(t)
    t.equal(failureOf(await post({ model: 'acme/none', input: 'x' })), '404 model_unknown')
    t.equal(
      failureOf(await post({ model: 'acme/embed', input: 'x', provider: { only: ['nobody'] } })),
      '404 endpoint_excluded',
    )
    t.equal(failureOf(await post({ model: 'acme/unset', input: 'x' })), '404 endpoint_unconfigured')
  },
)

const broken: readonly (readonly [string, Behaviour, string])[] = [
  ['resets in its body', resetsInBody, 'upstream_failed'],
  ['ends its body early', truncatesBody, 'upstream_failed'],
  ['hangs up', hangsUp, 'upstream_failed'],
  ['sends half a JSON', sendsHalfJson, 'upstream_invalid'],
  ['sends HTML', sendsHtml, 'upstream_invalid'],
  ['sends broken gzip', sendsBrokenGzip, 'upstream_invalid'],
  ['sends an encoding we do not know', answers({ contentEncoding: 'zstd' }), 'upstream_invalid'],
  ['leaves a vector out', answers({ missing: 1 }), 'upstream_invalid'],
  ['sends NaN', sends('{"data":[{"object":"embedding","index":0,"embedding":[1,NaN]}]}'), 'upstream_invalid'],
  ['answers 200 with an error', sends('{"error":{"message":"no"}}'), 'upstream_invalid'],
  ['announces 10 GB', sendsHuge(true), 'upstream_too_large'],
  ['sends 10 GB', sendsHuge(false), 'upstream_too_large'],
  ['redirects', redirects, 'upstream_failed'],
  ['answers 500', refuses(500), 'upstream_failed'],
  ['answers 503', refuses(503), 'upstream_failed'],
  ['does not know the model', refuses(404), 'upstream_failed'],
  ['refuses our key', refuses(401), 'upstream_credential'],
  ['forbids our key', refuses(403), 'upstream_credential'],
]
for (const [title, behaviour, failure] of broken) {
  t.test(`embeddings.create 502: the provider ${title}`, async (t) => {
    const { post, first, rest } = await openEmbeddings(t)
    first.usually(behaviour)
    const reply = await post(ONE)
    t.equal(failureOf(reply), `502 ${failure}`)
    t.equal(reply.body.error?.metadata['provider_name'], 'First')
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  })
}

t.test('embeddings.create 502: gemini reports with 400 that the operator key is wrong', async (t) => {
  const { post, foreign } = await openEmbeddings(t)
  const text = '{"error":{"code":400,"message":"API key not valid","details":[{"reason":"API_KEY_INVALID"}]}}'
  foreign.script(({ res }) => void res.writeHead(400).end(text))
  t.equal(failureOf(await post({ model: 'acme/gemini', input: 'x' })), '502 upstream_credential')
})

t.test('embeddings.create 502: a provider that cannot be reached', async (t) => {
  const { post, first } = await openEmbeddings(t)
  await first.close()
  t.equal(failureOf(await post(ONE)), '502 upstream_failed')
})

t.test('embeddings.create 503: an endpoint that failed repeatedly is not called for a while', async (t) => {
  // The rest of a breaker does not pass.
  const { post, first } = await openEmbeddings(t, { now: stopped() })
  first.usually(refuses(500))
  for (let nth = 0; nth < 10; nth++)
    await post(ONE, { authorization: `Bearer ${nth % 2 === 0 ? KEY : OTHER_KEY}` })
  const reply = await post(ONE)
  t.equal(failureOf(reply), '503 endpoint_unavailable')
  t.match(reply.headers.get('retry-after'), /^[12]$/)
  t.equal(first.calls.length, 10)
})

t.test('embeddings.create 503: no room for another answer before the attempt ends', async (t) => {
  await atPace(500, async (timeoutMs) => {
    const { post, first, rest } = await openEmbeddings(t, { answersBytesMax: 1000, timeoutMs })
    first.usually(answers({ dimensions: 2000 }))
    const failure = failureOf(await post(ONE))
    // Before the headers have come the front does not know that there is no room.
    if (failure === '524 upstream_slow') return false
    t.equal(failure, '503 busy')
    t.same(await rest(), { heldBytes: 0, calls: 0 })
    return true
  })
})

t.test('embeddings.create 504: the deadline of the call ends before the attempt', async (t) => {
  const { post, first, rest } = await openEmbeddings(t, { deadlineMs: 200 })
  first.usually(neverAnswers)
  t.equal(failureOf(await post(ONE)), '504 deadline_exceeded')
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

for (const [title, behaviour] of [
  ['never answers', neverAnswers],
  ['stalls in its body', stallsInBody],
] as const) {
  t.test(`embeddings.create 524: the provider ${title} within its own timeout`, async (t) => {
    await atPace(60, async (timeoutMs) => {
      const { post, first, rest } = await openEmbeddings(t, { timeoutMs })
      first.usually(behaviour)
      const failure = failureOf(await post(ONE))
      t.same(await rest(), { heldBytes: 0, calls: 0 })
      // Its time was over before it was sent.
      if (failure === '503 busy') return false
      t.equal(failure, '524 upstream_slow')
      return true
    })
  })
}

for (const status of [429, 529]) {
  t.test(
    `embeddings.create 529: the provider answers ${status}, and its Retry-After is passed on`,
    async (t) => {
      const { post, first } = await openEmbeddings(t)
      first.script(refuses(status, 'slow down', { 'retry-after': '7' }))
      const reply = await post(ONE)
      t.equal(failureOf(reply), '529 upstream_overloaded')
      t.equal(reply.headers.get('retry-after'), '7')
    },
  )
}

t.test('neither the input, the answer nor the keys are logged, whatever happens', async (t) => {
  const { post, first, log, lines } = await openEmbeddings(t)
  first.script(
    refuses(400, 'canary-in-reason'),
    sends('canary-in-body'),
    refuses(401, `canary ${PROVIDER_KEY}`),
  )
  for (let nth = 0; nth < 4; nth++) await post({ ...ONE, input: 'canary-in-input', user: 'canary-user' })
  t.notMatch(JSON.stringify(log.events) + lines.join(), /canary|provider-key/)
})
