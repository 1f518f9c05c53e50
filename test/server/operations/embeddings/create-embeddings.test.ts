import t from 'tap'
import { answers, vectorOf } from '../../../support/embeddings/provider-behaviours.ts'
import { limitsOf, openCountedCalls } from '../../../support/limits/counted-calls.ts'
import { openEmbeddings, PROVIDER_KEY } from '../../../support/embeddings/embeddings-front.ts'
import { LEXICAL_SLICE_UNITS } from '../../../../src/workers/embed-lexical.ts'

const ONE = { model: 'acme/one', input: 'one two three' }

t.test(
  'embeddings.create 200: the model name and id of Sluice, the vectors as the provider wrote them, and usage with its cost',
  async (t) => {
    const { post, first, rest } = await openEmbeddings(t)
    const { status, headers, text, body } = await post({ model: 'acme/e', input: 'one two three' })
    t.equal(status, 200)
    t.equal(headers.get('content-type'), 'application/json')
    t.match(body.id, /^emb_[0-9a-f]{32}$/)
    const vector = JSON.stringify(vectorOf('one two three', 8))
    const expected =
      `{"object":"list","data":[{"object":"embedding","index":0,"embedding":${vector}}],"model":"acme/embed","id":"${body.id}",` +
      '"usage":{"prompt_tokens":4,"total_tokens":4,"cost":0.000004,"is_byok":false}}'
    t.equal(text, expected)
    t.match(first.calls, [
      {
        path: '/v1/embeddings',
        headers: { authorization: `Bearer ${PROVIDER_KEY}`, 'accept-encoding': 'identity' },
      },
    ])
    t.same(first.calls[0]?.body, { model: 'embed-1', input: 'one two three' })
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  },
)

t.test('embeddings.create 200: an openai provider gets each text and token shape unchanged', async (t) => {
  const { post, first } = await openEmbeddings(t)
  const inputs = ['a', ['a', 'bb'], [1, 2, 3], [[1, 2], [3]]]
  for (const input of inputs) t.equal((await post({ ...ONE, input })).status, 200)
  t.same(
    first.calls.map(({ body }) => body['input']),
    inputs,
  )
})

t.test('embeddings.create 200: members that were sent to no endpoint are listed in one header', async (t) => {
  const { post } = await openEmbeddings(t)
  const named = async (model: string, more: object) => {
    const { status, headers, text } = await post({ model, input: 'x', ...more })
    t.equal(status, 200, text)
    return headers.get('x-sluice-dropped')
  }
  const hints = { input_type: 'search_query', user: 'u-1' }
  t.equal(await named('acme/one', hints), null)
  t.equal(await named('acme/one', { ...hints, truncate: true }), 'truncate')
  t.equal(await named('sluice/lexical-1', { ...hints, truncate: true }), 'truncate,input_type,user')
  t.equal(await named('sluice/lexical-1', {}), null)
})

t.test(
  'embeddings.create 200: passes on dimensions, encoding, input type and user, renamed when necessary',
  async (t) => {
    const { post, first, second } = await openEmbeddings(t)
    const asked = {
      input: 'x',
      dimensions: 4,
      encoding_format: 'base64',
      input_type: 'search_query',
      user: 'u-1',
    }
    await post({ model: 'acme/one', ...asked })
    await post({ model: 'acme/renamed', ...asked })
    t.same(first.calls[0]?.body, { model: 'one', ...asked })
    t.same(second.calls[0]?.body, {
      model: 'r',
      input: 'x',
      output_dimension: 4,
      encoding_format: 'base64',
      input_type: 'query',
      user: 'u-1',
    })
  },
)

t.test(
  'embeddings.create 200: unknown fields, session, trace and preferences never reach the provider',
  async (t) => {
    const { post, first, traced, settled, untilSettled } = await openEmbeddings(t)
    const hidden = {
      session_id: 's-1',
      trace: { trace_id: 't-1', mine: 2 },
      provider: { only: ['first'] },
      unknown: 1,
    }
    t.equal((await post({ ...ONE, ...hidden }, { 'x-session-id': 's-2' })).status, 200)
    t.same(first.calls[0]?.body, { model: 'one', input: ONE.input })
    t.same(traced, [hidden.trace])
    await untilSettled(1)
    t.match(settled, [
      { notes: { sessionId: 's-1', model: 'acme/one', provider: 'first', promptTokens: 4, attempts: 1 } },
    ])
  },
)

for (const [wanted, sent] of [
  ['base64', 'float'],
  ['float', 'base64'],
] as const) {
  t.test(
    `embeddings.create 200: ${sent} vectors of a provider are returned as the requested ${wanted}`,
    async (t) => {
      const { post, first } = await openEmbeddings(t)
      first.script(answers({ encoding: sent }))
      const { body } = await post({ ...ONE, encoding_format: wanted })
      const embedding = body.data?.[0]?.embedding
      const vector = typeof embedding === 'string' ? floatsOf(embedding) : embedding
      t.equal(typeof embedding, wanted === 'base64' ? 'string' : 'object')
      t.same(vector, vectorOf(ONE.input, 8))
    },
  )
}

t.test('embeddings.create 200: cohere and gemini answer in Sluice format, in both encodings', async (t) => {
  const { post, foreign } = await openEmbeddings(t)
  for (const model of ['acme/cohere', 'acme/gemini']) {
    const float = await post({ model, input: ['one', 'two'], dimensions: 4, input_type: 'search_query' })
    const base64 = await post({ model, input: ['one', 'two'], dimensions: 4, encoding_format: 'base64' })
    t.same(
      float.body.data?.map(({ index, embedding }) => [index, embedding]),
      [
        [0, vectorOf('one', 4)],
        [1, vectorOf('two', 4)],
      ],
    )
    t.same(
      base64.body.data?.map(({ embedding }) => floatsOf(String(embedding))),
      [vectorOf('one', 4), vectorOf('two', 4)],
    )
    t.match(float.body.usage, { prompt_tokens: 2, total_tokens: 2, cost: 0.000002 })
  }
  t.match(foreign.calls[0], {
    path: '/v2/embed',
    body: {
      model: 'c',
      texts: ['one', 'two'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 4,
    },
  })
  t.match(foreign.calls[2], {
    path: '/v1beta/models/g:batchEmbedContents',
    headers: { 'x-goog-api-key': PROVIDER_KEY, authorization: undefined },
    body: {
      requests: [
        {
          model: 'models/g',
          content: { parts: [{ text: 'one' }] },
          taskType: 'RETRIEVAL_QUERY',
          outputDimensionality: 4,
        },
        {},
      ],
    },
  })
})

t.test('embeddings.create 200: pictures are sent to cohere and gemini in their own formats', async (t) => {
  const { post, foreign } = await openEmbeddings(t)
  const url = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`
  const input = [
    {
      content: [
        { type: 'text', text: 'a cat' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ]
  for (const model of ['acme/cohere', 'acme/gemini']) t.equal((await post({ model, input })).status, 200)
  t.same(foreign.calls[0]?.body['inputs'], [
    {
      content: [
        { type: 'text', text: 'a cat' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ])
  const inlineData = { mimeType: 'image/png', data: Buffer.from('picture').toString('base64') }
  t.match(foreign.calls[1]?.body, { requests: [{ content: { parts: [{ text: 'a cat' }, { inlineData }] } }] })
})

t.test(
  'embeddings.create 200: the lexical model returns the same answer each time, in any dimension, without a provider',
  async (t) => {
    const { post } = await openEmbeddings(t)
    const ask = { model: 'sluice/lexical-1', input: ['a red car', 'the red car drives'], dimensions: 33 }
    const [once, again, base64] = [
      await post(ask),
      await post(ask),
      await post({ ...ask, encoding_format: 'base64' }),
    ]
    t.same(once.body.data, again.body.data)
    t.equal((once.body.data?.[0]?.embedding as readonly number[]).length, 33)
    t.same(
      base64.body.data?.map(({ embedding }) => floatsOf(String(embedding))),
      once.body.data?.map(({ embedding }) => rounded(embedding)),
    )
  },
)

t.test('embeddings.create 200: an unpriced model is free and marked as unpriced', async (t) => {
  const { post } = await openEmbeddings(t)
  const { headers, body } = await post({ model: 'acme/free', input: 'x' })
  t.equal(body.usage?.cost, 0)
  t.equal(headers.get('x-sluice-unpriced'), 'true')
})

t.test('embeddings.create 200: a free model of the catalogue is not marked as unpriced', async (t) => {
  const { post } = await openEmbeddings(t)
  const { status, headers, body } = await post({ model: 'sluice/lexical-1', input: 'x' })
  t.match({ status, usage: body.usage }, { status: 200, usage: { cost: 0 } })
  t.equal(headers.get('x-sluice-unpriced'), null)
})

const lies = [
  null,
  {},
  { prompt_tokens: -5 },
  { prompt_tokens: 1.5, total_tokens: 1.5 },
  { prompt_tokens: 10 ** 9 },
  { prompt_tokens: '4' },
]
for (const usage of lies) {
  t.test(
    `embeddings.create 200: a usage of ${JSON.stringify(usage)} is replaced by Sluice's estimate and marked`,
    async (t) => {
      const { post, first } = await openEmbeddings(t)
      first.script(answers({ usage }))
      const { headers, body } = await post(ONE)
      t.equal(headers.get('x-sluice-usage'), 'estimated')
      t.match(body.usage, { prompt_tokens: 4, total_tokens: 4, cost: 0.000004 })
    },
  )
}

for (const contentEncoding of ['gzip', 'br', 'deflate'] as const) {
  t.test(
    `embeddings.create 200: decodes an answer in ${contentEncoding} that was not requested`,
    async (t) => {
      const { post, first, rest } = await openEmbeddings(t)
      first.script(answers({ contentEncoding }))
      t.same((await post(ONE)).body.data?.[0]?.embedding, vectorOf(ONE.input, 8))
      t.same(await rest(), { heldBytes: 0, calls: 0 })
    },
  )
}

t.test('embeddings.create 200: a valid body of 31 MiB is embedded', async (t) => {
  const { post, first, rest } = await openEmbeddings(t)
  const input = Array.from({ length: 31 }, (_, nth) => String(nth % 10).repeat(1024 * 1024 - 8))
  const { status, body } = await post({ ...ONE, input })
  t.equal(status, 200)
  t.equal(body.data?.length, 31)
  t.equal(first.calls[0]?.text.length, JSON.stringify({ model: 'one', input }).length)
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

t.test(
  'embeddings.create 200: inputs and answers too large for the event loop get the same result in a short job',
  async (t) => {
    const { post, first, rest } = await openEmbeddings(t)
    const input = ['x'.repeat(200_000), 'y'.repeat(200_000)]
    for (const model of ['acme/cohere', 'acme/gemini', 'acme/one']) {
      const { body } = await post({ model, input, dimensions: 20_000 })
      t.same(
        body.data?.map(({ embedding }) => embedding),
        input.map((text) => vectorOf(text, 20_000)),
        model,
      )
    }
    first.script(answers({ encoding: 'float', dimensions: 40_000 }))
    const { body } = await post({ ...ONE, encoding_format: 'base64' })
    t.same(floatsOf(String(body.data?.[0]?.embedding)), vectorOf(ONE.input, 40_000))
    const texts = Array.from({ length: 20 }, (_, nth) => `${nth} `.repeat(LEXICAL_SLICE_UNITS / 2))
    const lexical = await post({ model: 'sluice/lexical-1', input: texts, dimensions: 4 })
    t.same(
      lexical.body.data?.map(({ index }) => index),
      texts.map((_, nth) => nth),
    )
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  },
)

t.test('embeddings.create 400: large pictures and tokens that no model protocol accepts', async (t) => {
  const { post, foreign } = await openEmbeddings(t)
  const tokens = Array.from({ length: 100_000 }, (_, nth) => nth)
  const url = `data:image/png;base64,${'A'.repeat(300_000)}`
  const pictures = [{ content: [{ type: 'image_url', image_url: { url } }] }]
  t.equal((await post({ model: 'acme/cohere', input: tokens })).status, 400)
  t.equal((await post({ model: 'acme/one', input: pictures })).status, 400)
  t.equal(foreign.calls.length, 0)
  t.equal((await post({ model: 'acme/one', input: tokens })).status, 200)
  t.equal((await post({ model: 'acme/gemini', input: pictures })).status, 200)
})

function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64')
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
}

function rounded(embedding: readonly number[] | string): readonly number[] {
  return typeof embedding === 'string' ? [] : embedding.map(Math.fround)
}

t.test(
  'embeddings.create: limits the running calls and the tokens per minute, counted from the input. D29',
  async (t) => {
    const { calls, counted } = openCountedCalls(t)
    const keys = { callLimits: limitsOf({ max_parallel: 1, rate_limit_tpm: 100 }) }
    const { post, first } = await openEmbeddings(t, { keys, modelCalls: calls })
    const one = await post({ model: 'acme/one', input: 'x'.repeat(40) })
    t.equal(one.status, 200)
    t.equal(counted.tokens, one.body.usage?.prompt_tokens)
    t.equal(one.headers.get('x-ratelimit-limit-tokens'), '100')
    const large = await post({ model: 'acme/one', input: 'x'.repeat(404) })
    t.equal(large.status, 400)
    t.match(large.body.error?.metadata, {
      error_type: 'tokens_over_limit',
      estimated_tokens: 101,
      limit: 100,
    })
    counted.held.add('another')
    const refused = await post({ model: 'acme/one', input: 'x' })
    t.equal(refused.status, 429)
    t.match(refused.body.error?.metadata, { error_type: 'rate_limited', limit_kind: 'parallel' })
    t.equal(first.calls.length, 1)
  },
)
