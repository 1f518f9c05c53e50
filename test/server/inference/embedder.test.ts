import t from 'tap'
import { atPace } from '../../support/load/pace.ts'
import {
  answers,
  hangsUp,
  neverAnswers,
  refuses,
  type Behaviour,
} from '../../support/embeddings/provider-behaviours.ts'
import { KEY, OTHER_KEY } from '../../support/front.ts'
import {
  openEmbeddings,
  type EmbeddingsReply,
  type FrontOptions,
} from '../../support/embeddings/embeddings-front.ts'

const BOTH = { model: 'acme/embed', input: 'one two three' }
const FREE_FACTS = { pricing: { prompt: '0.000001' } }

function failureOf({ status, body }: EmbeddingsReply): string {
  return `${status} ${String(body.error?.metadata['error_type'])}`
}

for (const [title, behaviour] of [
  ['hangs up', hangsUp],
  ['answers 500', refuses(500)],
  ['is overloaded', refuses(429)],
  ['refuses our key', refuses(401)],
  ['leaves a vector out', answers({ missing: 1 })],
] as const satisfies readonly (readonly [string, Behaviour])[]) {
  t.test(`when the first endpoint ${title} the second one answers, at its own price`, async (t) => {
    const { post, first, second, settled, untilSettled } = await openEmbeddings(t)
    first.script(behaviour)
    const { status, body } = await post(BOTH)
    t.equal(status, 200)
    t.equal(body.usage?.cost, 0.000002)
    t.same([first.calls.length, second.calls.length], [1, 1])
    await untilSettled(1)
    t.match(settled, [{ notes: { provider: 'second', attempts: 2 } }])
  })
}

t.test(
  'an attempt that uses its whole timeout leaves the rest of the deadline to the next endpoint',
  async (t) => {
    const { post, first } = await openEmbeddings(t, { timeoutMs: 50 })
    first.script(neverAnswers)
    t.equal((await post(BOTH)).status, 200)
  },
)

t.test('when all endpoints fail, reports the soonest available and lists the others', async (t) => {
  const { post, first, second } = await openEmbeddings(t)
  first.script(refuses(529, 'busy', { 'retry-after': '9' }))
  second.script(refuses(500))
  const reply = await post(BOTH)
  t.equal(failureOf(reply), '529 upstream_overloaded')
  t.equal(reply.headers.get('retry-after'), '9')
  t.match(reply.body.error?.metadata, {
    provider_name: 'First',
    previous_errors: [{ provider: 'Second', code: 'scripted', status: 500 }],
  })
})

for (const status of [401, 404, 422, 429]) {
  t.test(`the message and the record of the call contain a provider's status ${status}`, async (t) => {
    const { post, first, settled, untilSettled } = await openEmbeddings(t)
    first.script(refuses(status))
    const reply = await post({ model: 'acme/one', input: 'one' })
    t.match(reply.body.error?.message, new RegExp(`The provider answered ${status}[.:]`))
    t.notMatch(reply.body.error?.message, /reached/)
    await untilSettled(1)
    t.same(settled[0]?.notes.failedAttempts, [{ provider: 'first', status, code: 'scripted' }])
  })
}

t.test(
  'a refused connection reports the provider and the kind of error, and the log has the error code',
  async (t) => {
    const { post, settled, untilSettled } = await openEmbeddings(t, { oneAt: 'http://127.0.0.1:1' })
    const reply = await post({ model: 'acme/one', input: 'one' })
    t.equal(reply.body.error?.message, 'The provider elsewhere failed. The server refused the connection.')
    await untilSettled(1)
    t.same(settled[0]?.notes.failedAttempts, [{ provider: 'elsewhere', status: null, code: 'ECONNREFUSED' }])
  },
)

t.test('names the preferences that exclude all endpoints', async (t) => {
  const { post } = await openEmbeddings(t)
  const answer = async (provider: object) => (await post({ ...BOTH, provider })).body.error?.message
  t.match(await answer({ zdr: true, max_price: { prompt: 5 } }), /Preferences that exclude endpoints: zdr\.$/)
  t.match(
    await answer({ only: ['first'], ignore: ['first'] }),
    /Preferences that exclude endpoints: only, ignore\.$/,
  )
  const ordered = await answer({ order: ['nobody'], allow_fallbacks: false })
  t.match(
    ordered,
    /Preferences that exclude endpoints: order, allow_fallbacks\. The model has no provider `nobody`\. The model has: `first`, `second`\.$/,
  )
})

t.test('the local model joins text parts into one text', async (t) => {
  const { post } = await openEmbeddings(t)
  const vectorOf = async (input: unknown) => {
    const { body } = await post({ model: 'sluice/lexical-1', input, dimensions: 8 })
    return body.data?.[0]?.embedding
  }
  const parts = [
    {
      content: [
        { type: 'text', text: 'one two' },
        { type: 'text', text: 'three' },
      ],
    },
  ]
  t.same(await vectorOf(parts), await vectorOf('one two three'))
  const large = [{ content: [{ type: 'text', text: 'one two three '.repeat(10_000) }] }]
  t.same(await vectorOf(large), await vectorOf('one two three '.repeat(10_000)))
})

t.test('the refusal of an unsupported input names the supported forms', async (t) => {
  const { post } = await openEmbeddings(t)
  const answer = async (input: unknown) =>
    (await post({ model: 'sluice/lexical-1', input })).body.error?.message
  t.match(
    await answer([1, 2]),
    /The model supports: a string, an array of strings, an array of objects with content parts\.$/,
  )
  const image = { type: 'image_url', image_url: { url: `data:${'x'.repeat(100_000)}` } }
  t.match(
    await answer([{ content: [image] }]),
    /(The model only accepts parts of type text|The model does not support image; it supports text)\.$/,
  )
})

t.test('a call that reaches its deadline in the second attempt lists the first one', async (t) => {
  await atPace(250, async (deadlineMs) => {
    const { post, first, second } = await openEmbeddings(t, { deadlineMs })
    first.script(refuses(500))
    second.script(neverAnswers)
    const reply = await post(BOTH)
    t.equal(failureOf(reply), '504 deadline_exceeded')
    if (second.calls.length === 0) return false
    t.match(reply.body.error?.metadata, {
      previous_errors: [{ provider: 'First', code: 'scripted', status: 500 }],
    })
    return true
  })
})

t.test('an attempt that ended because of the call itself does not count against its endpoint', async (t) => {
  await atPace(120, async (deadlineMs) => {
    const { post, first } = await openEmbeddings(t, { deadlineMs })
    first.usually(neverAnswers)
    const ask = (key: string) => post({ model: 'acme/one', input: 'one' }, { authorization: `Bearer ${key}` })
    // An open breaker would answer 503.
    for (const key of [KEY, OTHER_KEY, KEY, OTHER_KEY, KEY]) t.equal((await ask(key)).status, 504)
    return first.calls.length === 5
  })
})

const choices: readonly (readonly [
  string,
  Record<string, unknown>,
  FrontOptions,
  'first' | 'second' | '404',
])[] = [
  ["without preferences the catalogue's order holds", {}, {}, 'first'],
  ['order by slug', { order: ['second', 'first'] }, {}, 'second'],
  ['order by name, in any case', { order: ['SECOND'] }, {}, 'second'],
  ['only', { only: ['second'] }, {}, 'second'],
  ['ignore', { ignore: ['first'] }, {}, 'second'],
  ['only and ignore together leave none', { only: ['first'], ignore: ['first'] }, {}, '404'],
  ['sort by price', { sort: 'price' }, {}, 'second'],
  ['sort by price, long form', { sort: { by: 'price', partition: 'none' } }, {}, 'second'],
  ['order wins over sort', { order: ['first'], sort: 'price' }, {}, 'first'],
  ['max_price in USD per million tokens, as text', { max_price: { prompt: '0.6' } }, {}, 'second'],
  ['max_price as a number', { max_price: { prompt: 0.4 } }, {}, '404'],
  ['a price of pictures does not bind texts', { max_price: { image: 0 } }, {}, 'first'],
  ['zdr excludes endpoints that do not declare it', { zdr: true }, { secondFacts: { zdr: true } }, 'second'],
  ['zdr that no endpoint declares matches nothing', { zdr: true }, {}, '404'],
  [
    'data_collection deny',
    { data_collection: 'deny' },
    { firstFacts: { may_train: true }, secondFacts: { may_train: false } },
    'second',
  ],
  ['data_collection deny where nothing is known', { data_collection: 'deny' }, {}, '404'],
  ['data_collection allow', { data_collection: 'allow' }, {}, 'first'],
  [
    'enforce_distillable_text',
    { enforce_distillable_text: true },
    { secondFacts: { distillable: true } },
    'second',
  ],
  [
    'quantizations',
    { quantizations: ['fp16'] },
    { firstFacts: { quantization: 'int8' }, secondFacts: { quantization: 'fp16' } },
    'second',
  ],
  ['an unknown quantization matches nothing but unknown', { quantizations: ['fp16'] }, {}, '404'],
  [
    'quantization unknown',
    { quantizations: ['unknown'] },
    { firstFacts: { quantization: 'int8' } },
    'second',
  ],
  [
    'a whole object of null',
    { order: null, only: null, ignore: null, sort: null, zdr: null, quantizations: null },
    {},
    'first',
  ],
]
for (const [title, provider, facts, expected] of choices) {
  t.test(`preferences: ${title}`, async (t) => {
    const { post, first, second } = await openEmbeddings(t, facts)
    const { status } = await post({ ...BOTH, provider })
    t.equal(status, expected === '404' ? 404 : 200)
    t.same(
      [first.calls.length, second.calls.length],
      { first: [1, 0], second: [0, 1], '404': [0, 0] }[expected],
    )
  })
}

t.test('sort by price compares the cost of the call itself, with its request price', async (t) => {
  const secondFacts = { pricing: { prompt: '0.0000005', request: '0.001' } }
  const { post, first, second } = await openEmbeddings(t, { secondFacts })
  await post({ ...BOTH, provider: { sort: 'price' } })
  t.same([first.calls.length, second.calls.length], [1, 0])
  await post({ model: 'acme/embed', input: 'word '.repeat(4_000), provider: { sort: 'price' } })
  t.same([first.calls.length, second.calls.length], [1, 1])
})

t.test('unpriced endpoints do not count as the cheapest, and their calls are marked unpriced', async (t) => {
  const { post, first, second } = await openEmbeddings(t, { secondFacts: { pricing: undefined } })
  for (const provider of [{ sort: 'price' }, { max_price: { prompt: 5 } }]) {
    const { status, headers } = await post({ ...BOTH, provider })
    t.same([status, headers.get('x-sluice-unpriced')], [200, null])
  }
  t.same([first.calls.length, second.calls.length], [2, 0])
  t.equal((await post({ ...BOTH, provider: { only: ['second'], max_price: { prompt: 5 } } })).status, 404)
  const { headers, body } = await post({ ...BOTH, provider: { order: ['second'] } })
  t.same([headers.get('x-sluice-unpriced'), body.usage?.cost], ['true', 0])
  const free = await post({ model: 'acme/free', input: 'x', provider: { max_price: { prompt: 0 } } })
  t.same([free.status, free.headers.get('x-sluice-unpriced')], [200, 'true'])
})

t.test('require_parameters keeps only the endpoints that declare the parameters of the call', async (t) => {
  const facts = {
    firstFacts: { supported_parameters: ['encoding_format'] },
    secondFacts: { supported_parameters: ['dimensions'] },
  }
  const { post, second } = await openEmbeddings(t, facts)
  t.equal((await post({ ...BOTH, dimensions: 4, provider: { require_parameters: true } })).status, 200)
  t.equal(second.calls.length, 1)
  t.equal((await post({ ...BOTH, input_type: 'query', provider: { require_parameters: true } })).status, 404)
})

t.test('an endpoint that does not declare a field does not get it', async (t) => {
  const { post, first } = await openEmbeddings(t, {
    firstFacts: { ...FREE_FACTS, supported_parameters: ['dimensions'] },
  })
  const { body } = await post({
    ...BOTH,
    encoding_format: 'base64',
    input_type: 'query',
    user: 'u',
    dimensions: 4,
  })
  t.same(first.calls[0]?.body, { model: 'embed-1', input: BOTH.input, dimensions: 4 })
  t.type(body.data?.[0]?.embedding, 'string')
})

t.test('without fallbacks only the first endpoint is tried, or those that `order` names', async (t) => {
  const { post, first, second } = await openEmbeddings(t)
  first.usually(refuses(500))
  t.equal((await post({ ...BOTH, provider: { allow_fallbacks: false } })).status, 502)
  t.equal(second.calls.length, 0)
  t.equal(
    (await post({ ...BOTH, provider: { allow_fallbacks: false, order: ['first', 'second'] } })).status,
    200,
  )
  t.equal((await post({ ...BOTH, provider: { allow_fallbacks: false, order: ['nobody'] } })).status, 404)
})

t.test('the variant :floor tries endpoints in the order of their price', async (t) => {
  const { post, second } = await openEmbeddings(t)
  const { text } = await post({ ...BOTH, model: 'acme/embed:floor' })
  t.match(text, '"model":"acme/embed:floor"')
  t.equal(second.calls.length, 1)
})

t.test('an open breaker sends calls to the next endpoint at once', async (t) => {
  // Its rest lasts a second, which a busy machine may take for these calls.
  const at = Math.round(performance.now())
  const { post, first, second, log, breakers } = await openEmbeddings(t, { now: () => at })
  first.usually(refuses(500))
  for (let nth = 0; nth < 14; nth++) {
    const key = nth % 2 === 0 ? KEY : OTHER_KEY
    t.equal((await post(BOTH, { authorization: `Bearer ${key}` })).status, 200)
  }
  t.equal(first.calls.length, 10)
  t.equal(second.calls.length, 14)
  t.match(
    log.events.filter(({ event }) => event === 'upstream.breaker_opened'),
    [{ fields: { endpoint: 'first/embed-1' } }],
  )
  t.same(breakers(), [
    { provider: 'first', openings: 1, open: [{ endpoint: 'first/embed-1', openForMs: 0, probeInMs: 1_100 }] },
  ])
})

t.test('failures of a single key do not open the breaker, nor do missing vectors', async (t) => {
  const at = Math.round(performance.now())
  const { post, first } = await openEmbeddings(t, { now: () => at })
  first.usually(refuses(500))
  for (let nth = 0; nth < 12; nth++) await post(BOTH)
  t.equal(first.calls.length, 12)
  first.usually(answers({ missing: 1 }))
  for (let nth = 0; nth < 12; nth++)
    await post(BOTH, { authorization: `Bearer ${nth % 2 === 0 ? KEY : OTHER_KEY}` })
  t.equal(first.calls.length, 24)
})
