/** The charge of a call, and that it is charged once. C14, C24; design §6.4. */
import t from 'tap'
import { fail, ok, type FailureName, type Outcome } from '../../../../src/schemas/failures.ts'
import {
  EmbeddingCall,
  type EmbeddingsResult,
  type RoutedEmbedding,
} from '../../../../src/server/inference/embedding-call.ts'
import type { Embedder } from '../../../../src/server/ports/embeddings/embeddings.ts'
import type { Spend } from '../../../../src/server/ports/money/money.ts'
import { createEmbeddings } from '../../../../src/server/operations/embeddings/create-embeddings.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { NO_LIMITS } from '../../../support/money/key-money.ts'
import { recorder } from '../../../support/money/spend-recorder.ts'
import { answers, hangsUp, refuses, sendsHtml } from '../../../support/embeddings/provider-behaviours.ts'
import { textOf } from '../../../support/parts.ts'

const ONE = { model: 'acme/one', input: 'one two three' }
/** Nano-USD of a token at a price of one USD per million. */
const TOKEN = 1_000
/** A token for each byte, and the marks around them. */
const BOUND = (13 + 16) * TOKEN

t.test('a call reserves its maximum cost, and is charged its actual cost', async (t) => {
  const spend = recorder()
  const { post } = await openEmbeddings(t, { spend })
  const { headers, body } = await post({ ...ONE, model: 'acme/embed:floor' })
  t.equal(body.usage?.cost, 0.000_002)
  t.match(spend.holds, [
    {
      ask: {
        bound: { paidNano: BOUND, anyNano: BOUND },
        facts: {
          requestId: headers.get('x-request-id'),
          operation: 'embeddings.create',
          model: 'acme/embed:floor',
        },
      },
      ends: [{ costNano: 2 * TOKEN, isByok: false, isEstimated: false, provider: 'second', tokens: 4 }],
    },
  ])
  t.type(spend.holds[0]?.ends, Array)
  t.ok(spend.holds[0]?.ends.every((end) => typeof end === 'object' && Number.isInteger(end.milliseconds)))
})

const CREDIT = { money: { ...NO_LIMITS, accountId: 'a', isCreditLimited: true } }

t.test(
  'under a limit unpriced endpoints are skipped at any position; without a limit they are used',
  async (t) => {
    const spend = recorder()
    const firstFacts = { pricing: undefined }
    const limited = await openEmbeddings(t, { spend, firstFacts, keys: CREDIT })
    for (const provider of [undefined, { allow_fallbacks: false }, { order: ['first', 'second'] }]) {
      t.equal((await limited.post({ ...ONE, model: 'acme/embed', provider })).status, 200)
    }
    t.same([limited.first.calls.length, limited.second.calls.length], [0, 3])
    t.same(
      spend.holds.map(({ ask }) => ask.bound),
      Array(3).fill({ paidNano: BOUND / 2, anyNano: BOUND / 2 }),
    )
    const free = await openEmbeddings(t, { firstFacts })
    t.equal((await free.post({ ...ONE, model: 'acme/embed' })).headers.get('x-sluice-unpriced'), 'true')
    t.equal(free.first.calls.length, 1)
  },
)

t.test(
  'under a limit only the priced endpoint is used: when it fails or is excluded, no unpriced one is called free of charge',
  async (t) => {
    const spend = recorder()
    const { post, first, second } = await openEmbeddings(t, {
      spend,
      firstFacts: { pricing: undefined },
      keys: CREDIT,
    })
    second.script(refuses(500))
    t.equal((await post({ ...ONE, model: 'acme/embed' })).status, 502)
    t.equal(first.calls.length, 0)
    await post({ ...ONE, model: 'acme/embed', provider: { only: ['first'] } })
    t.match(
      spend.holds.at(-1)?.ask.bound,
      { paidNano: null, anyNano: null, unpriced: 'first/embed-1' },
      'which every limit refuses',
    )
  },
)

const refusals = [
  ['embeddings.create 402: credit that does not cover the call', 402, 'credit_exhausted'],
  ['embeddings.create 403: a limit of the key that does not cover the call', 403, 'key_limit_exceeded'],
  ['embeddings.create 403: a budget that does not cover the call', 403, 'budget_exceeded'],
  ['embeddings.create 403: a call of unknown maximum cost, under a limit', 403, 'cost_unbounded'],
] as const satisfies readonly (readonly [string, number, FailureName])[]
for (const [title, status, name] of refusals) {
  t.test(`${title}, is not sent`, async (t) => {
    const metadata = {
      limit_source: 'budget',
      scope: 'workspace',
      limit: 10,
      spend: 9.99,
      interval: 'daily',
      reset_at: '2026-11-21T00:00:00Z',
    }
    const { post, first } = await openEmbeddings(t, {
      spend: recorder(() => fail(name, { metadata, detail: '9.99 of 10 USD is used.' })),
    })
    const reply = await post(ONE)
    t.equal(reply.status, status)
    t.match(reply.body.error, {
      code: status,
      message: /9\.99 of 10 USD is used\.$/,
      metadata: { error_type: name, ...metadata },
    })
    t.equal(first.calls.length, 0)
  })
}

t.test('embeddings.create 503: a call is not sent if its reservation cannot be written', async (t) => {
  const end = (): null => (t.fail('nothing was held'), null)
  const spend: Spend = {
    hold: () => ok({ written: () => false, progress: end, settle: end, release: end }),
  }
  const { post, first } = await openEmbeddings(t, { spend })
  const { status, body } = await post(ONE)
  t.same([status, body.error?.metadata['error_type']], [503, 'store_unavailable'])
  t.equal(first.calls.length, 0)
})

t.test('embeddings.create 403: a model that the key does not list, under any of its names', async (t) => {
  const spend = recorder()
  const { post, first } = await openEmbeddings(t, {
    spend,
    keys: { allowedModels: ['acme/one', 'sluice/*'] },
  })
  for (const model of ['acme/embed', 'acme/embed:floor', 'acme/e', 'acme/chat']) {
    const { status, body } = await post({ ...ONE, model })
    t.same([status, body.error?.metadata['error_type']], [403, 'model_not_allowed'], model)
  }
  t.equal((await post({ ...ONE, model: 'acme/none' })).status, 404)
  t.same([spend.holds.length, first.calls.length], [0, 0])
  t.equal((await post(ONE)).status, 200)
  t.equal((await post({ ...ONE, model: 'sluice/lexical-1' })).status, 200)
})

const failing = [
  ['answers 500', refuses(500)],
  ['refuses the input', refuses(400)],
  ['hangs up', hangsUp],
  ['sends a page', sendsHtml],
] as const
for (const [what, behaviour] of failing) {
  t.test(`a provider that ${what} costs nothing`, async (t) => {
    const spend = recorder()
    const { post, first } = await openEmbeddings(t, { spend })
    first.usually(behaviour)
    t.not((await post(ONE)).status, 200)
    t.same(
      spend.holds.map(({ ends }) => ends),
      [['released']],
    )
  })
}

t.test('a call that cannot be sent reserves no money', async (t) => {
  const spend = recorder()
  const { post } = await openEmbeddings(t, { spend })
  for (const model of ['acme/none', 'acme/chat', 'acme/unset']) await post({ ...ONE, model })
  await post({ ...ONE, model: 'acme/embed', provider: { only: ['nobody'] } })
  t.same(spend.holds, [])
})

t.test('a call that falls back is charged once, at the price of the endpoint that answered', async (t) => {
  const spend = recorder()
  const { post, first } = await openEmbeddings(t, { spend })
  first.script(refuses(500))
  t.equal((await post({ ...ONE, model: 'acme/embed' })).body.usage?.cost, 0.000_002)
  t.match(spend.holds, [
    { ask: { bound: { paidNano: BOUND } }, ends: [{ costNano: 2 * TOKEN, provider: 'second' }] },
  ])
  t.equal(spend.holds[0]?.ends.length, 1)
})

t.test('a call that is repeated on a new connection is charged once', async (t) => {
  const spend = recorder()
  const { post, first } = await openEmbeddings(t, { spend })
  await post(ONE)
  first.script(hangsUp)
  t.equal((await post(ONE)).status, 200)
  t.equal(first.calls.length, 3)
  t.match(
    spend.holds.map(({ ends }) => ends),
    [[{ costNano: 4 * TOKEN }], [{ costNano: 4 * TOKEN }]],
  )
  t.same(
    spend.holds.map(({ ends }) => ends.length),
    [1, 1],
  )
})

t.test(
  'caps the charge when the provider reports more than the bound, and marks the reply as capped',
  async (t) => {
    const spend = recorder()
    const { post, first, settled, untilSettled } = await openEmbeddings(t, { spend })
    first.script(answers({ usage: { prompt_tokens: 5_000, total_tokens: 5_000 } }))
    const { headers, body } = await post(ONE)
    t.equal(body.usage?.cost, BOUND / 1e9)
    t.equal(headers.get('x-sluice-usage'), 'capped')
    t.match(
      spend.holds,
      [{ ends: [{ costNano: 5_000 * TOKEN, tokens: 5_000, isEstimated: false }] }],
      'the ledger is told all, for its overrun',
    )
    await untilSettled(1)
    t.equal(settled[0]?.notes.costUsd, BOUND / 1e9)
  },
)

t.test('charges an estimate when the provider reports no usage, and marks it', async (t) => {
  const spend = recorder()
  const { post, first } = await openEmbeddings(t, { spend })
  first.script(answers({ usage: null }))
  t.equal((await post(ONE)).body.usage?.cost, 0.000_004)
  t.match(spend.holds, [{ ends: [{ costNano: 4 * TOKEN, isEstimated: true }] }])
})

const MODEL = { id: 'acme/x', isEmbedding: true }
const RESULT: EmbeddingsResult = {
  data: [Buffer.from('[]')],
  totalTokens: 100,
  spent: {
    costNano: 100_000,
    isByok: true,
    isEstimated: false,
    provider: 'own',
    tokens: 100,
    milliseconds: 2,
    isUnpriced: false,
    attempts: 1,
    upstreamMs: 1.5,
  },
  dropped: [],
  release: () => undefined,
}

/** The operation alone, with an answer of an endpoint's. */
function ran(spend: Spend, run: () => Promise<Outcome<EmbeddingsResult>>) {
  class Ran extends EmbeddingCall {
    override readonly bound = { paidNano: 10, anyNano: 60_000 }

    protected override run(): Promise<Outcome<EmbeddingsResult>> {
      return run()
    }
  }
  const shared = { unixNow: () => 0, now: () => 0 } as unknown as RoutedEmbedding['shared']
  const shape = { kind: 'string', count: 1, pictures: 0 } as const
  const embedder: Embedder = {
    answer: (job, ports) => new Ran({ job, shape, targets: [], shared, ports }).pay(),
  }
  const ports = {
    spend,
    models: { resolve: () => MODEL },
    privateModels: { of: () => null },
    embedder,
  }
  const key = { allowedModels: null, scopes: null, hash: 'k' }
  const call = {
    key,
    headers: {},
    body: { model: 'acme/x', input: 'x' },
    notes: {},
    requestId: 'r',
    deadlineAt: 1,
  }
  return createEmbeddings.run(call as never, ports as never)
}

t.test(
  "caps the charge at the most expensive of all endpoints under own credentials, otherwise of the operator's endpoints",
  async (t) => {
    const spend = recorder()
    const reported = [
      await ran(spend, () => Promise.resolve(ok(RESULT))),
      await ran(spend, () => Promise.resolve(ok({ ...RESULT, spent: { ...RESULT.spent, isByok: false } }))),
    ]
    const texts = reported.map((answer) =>
      answer.ok && answer.value.kind === 'bytes' ? textOf(answer.value.parts) : '',
    )
    t.match(texts[0], /"cost":0.00006,"is_byok":true/)
    t.match(texts[1], /"cost":1e-8,"is_byok":false/)
    t.match(
      spend.holds.map(({ ends }) => ends),
      [[{ costNano: 100_000, isByok: true, milliseconds: 2 }], [{ costNano: 100_000, isByok: false }]],
    )
  },
)

t.test('a bug during a call releases the reserved money', async (t) => {
  const spend = recorder()
  await t.rejects(Promise.resolve(ran(spend, () => Promise.reject(new Error('a bug')))), { message: 'a bug' })
  t.same(
    spend.holds.map(({ ends }) => ends),
    [['released']],
  )
})

t.test('each picture is charged the price of an image, in small and in large inputs. F10', async (t) => {
  const spend = recorder()
  const foreignFacts = { context_length: 1_000, pricing: { prompt: '0.000001', image: '0.0001' } }
  const { post } = await openEmbeddings(t, { spend, foreignFacts })
  for (const bytes of [10, 300_000]) {
    const url = `data:image/png;base64,${'A'.repeat(bytes)}`
    const part = { type: 'image_url', image_url: { url } }
    const input = [{ content: [{ type: 'text', text: 'cats' }, part] }, { content: [part] }]
    const { body } = await post({ model: 'acme/cohere', input })
    const { prompt_tokens: tokens = 0, cost = 0 } = body.usage ?? {}
    const most = 2_000 * TOKEN + 200_000
    t.equal(Math.round(cost * 1e9), Math.min(tokens * TOKEN + 200_000, most), `${bytes} bytes`)
    t.match(spend.holds.at(-1), { ask: { bound: { paidNano: most } } })
  }
})
