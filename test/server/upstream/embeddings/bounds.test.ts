/** The maximum cost of a call, known before anything of it is sent. Design §6.4. */
import fc from 'fast-check'
import t from 'tap'
import { BulkBytes } from '../../../../src/schemas/bodies.ts'
import { kindOf, picturesOf, type EmbeddingInput } from '../../../../src/schemas/embeddings/embeddings.ts'
import type { Endpoint } from '../../../../src/server/ports/models/models.ts'
import {
  costBoundOf,
  mostTokens,
  TOKENS_ADDED_MAX,
} from '../../../../src/server/upstream/embeddings/bounds.ts'
import { shapeOf } from '../../../../src/server/upstream/embeddings/input-shape.ts'
import { estimateTokens } from '../../../../src/server/upstream/embeddings/usage.ts'
import { at as bounded, type FlatPrices } from '../../../support/inference/bounded-endpoints.ts'

type Facts = Partial<Pick<Endpoint, 'isUnpriced' | 'contextLength' | 'tag'>> &
  Pick<FlatPrices, 'promptNanoPerMillion' | 'requestNano'>

/** One USD per million tokens by default. */
const at = (facts: Facts = {}, isOwn = false): { readonly endpoint: Endpoint } => {
  const { promptNanoPerMillion = 1_000_000_000 } = facts
  return bounded(
    { inputNanoPerMillionMax: promptNanoPerMillion },
    { ...facts, ...(isOwn && { ownWay: {} as NonNullable<Endpoint['ownWay']> }) },
  )
}
const bound = (input: EmbeddingInput, ...targets: readonly { readonly endpoint: Endpoint }[]) =>
  costBoundOf(targets, { input, shape: shapeOf(input), instants: { from: 0, until: 0 } })
const most = (input: EmbeddingInput, contextLength: number | null = null) =>
  mostTokens(input, shapeOf(input), contextLength)
const bulk = (input: EmbeddingInput) =>
  new BulkBytes(Buffer.from(JSON.stringify(input)), {
    kind: kindOf(input),
    count: typeof input === 'string' ? 1 : input.length,
    pictures: picturesOf(input),
  })
const PICTURE = {
  content: [
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: { url: 'data:,' } },
  ],
} as const
const ADDED = TOKENS_ADDED_MAX

t.test('an input has at most one token per byte of UTF-8, plus the special tokens around it', async (t) => {
  t.equal(most('abc'), 3 + ADDED)
  t.equal(most('€'), 3 + ADDED)
  t.equal(most('😀'), 4 + ADDED)
  t.equal(most(['abc', '€€']), 9 + 2 * ADDED)
  t.equal(most([7, 8, 9]), 3 + ADDED)
  t.equal(most([[7], [8, 9]]), 3 + 2 * ADDED)
  t.equal(most([{ content: [{ type: 'text', text: 'abc' }] }]), 3 + ADDED)
})

t.test('the input of one vector counts at most the context length of its endpoint', async (t) => {
  t.equal(most('x'.repeat(9_000), 8_192), 8_192)
  t.equal(most('€'.repeat(8_000), 8_192), 8_192)
  t.equal(most(['x'.repeat(9_000), 'x'], 8_192), 8_192 + 1 + ADDED)
  t.equal(most([[...'x'.repeat(600)].map(() => 1), [1]], 512), 512 + 1 + ADDED)
  t.equal(most([{ ...PICTURE, content: [...PICTURE.content] }], 8_192), 8_192)
})

t.test('a picture without a known context has no bound, except at a price per request', async (t) => {
  const pictures: EmbeddingInput = [{ content: [...PICTURE.content] }]
  t.same(bound(pictures, at()), { paidNano: null, anyNano: null })
  t.same(mostTokens(bulk(pictures), shapeOf(bulk(pictures)), null), null)
  t.same(bound(pictures, at({ promptNanoPerMillion: 0, requestNano: 5 })), { paidNano: 5, anyNano: 5 })
  t.same(
    bound(pictures, at({ requestNano: 5, promptNanoPerMillion: 0 }), at()),
    { paidNano: null, anyNano: null },
    'one without a bound is the dearest',
  )
})

t.test('each picture of an input is charged at the image price, both inline and by URL', async (t) => {
  const { endpoint } = at({ promptNanoPerMillion: 0, requestNano: 5 })
  const priced = { endpoint: { ...endpoint, prices: { ...endpoint.prices, imageNano: 100 } } }
  const one = { content: [...PICTURE.content] }
  const pictures: EmbeddingInput = [one, { content: [...one.content, ...one.content] }]
  t.same(bound(pictures, priced), { paidNano: 305, anyNano: 305 })
  const large = bulk(pictures)
  const found = costBoundOf([priced], {
    input: large,
    shape: shapeOf(large),
    instants: { from: 0, until: 0 },
  })
  t.same(found, { paidNano: 305, anyNano: 305 })
  t.same(bound('text', priced), { paidNano: 5, anyNano: 5 })
})

t.test(
  'an endpoint without a price has no bound and is named; one that is free has the bound 0',
  async (t) => {
    const unpriced = { promptNanoPerMillion: 0, isUnpriced: true, tag: 'acme/m' }
    t.same(bound('abc', at(), at(unpriced)), { paidNano: null, anyNano: null, unpriced: 'acme/m' })
    t.same(
      bound('abc', at(), at(unpriced, true)),
      { paidNano: 1_000 * (3 + ADDED), anyNano: null, unpriced: 'acme/m' },
      'under an own key',
    )
    t.same(bound('abc', at({ promptNanoPerMillion: 0 })), { paidNano: 0, anyNano: 0 })
  },
)

t.test('the dearest endpoint bounds a call, and endpoints under own credentials count apart', async (t) => {
  const [cheap, dear, own] = [
    at(),
    at({ promptNanoPerMillion: 3_000_000_000, requestNano: 1 }),
    at({ promptNanoPerMillion: 9_000_000_000 }, true),
  ]
  const tokens = 3 + ADDED
  t.same(bound('abc', cheap, dear), { paidNano: 3_000 * tokens + 1, anyNano: 3_000 * tokens + 1 })
  t.same(bound('abc', own, cheap), { paidNano: 1_000 * tokens, anyNano: 9_000 * tokens })
  t.same(bound('abc', own), { paidNano: 0, anyNano: 9_000 * tokens })
  t.same(bound([{ content: [...PICTURE.content] }], own, at({ contextLength: 100 })), {
    paidNano: 100_000,
    anyNano: null,
  })
})

t.test('a bound is rounded up once', async (t) => {
  t.same(bound('abc', at({ promptNanoPerMillion: 1 })), { paidNano: 1, anyNano: 1 })
})

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
const ids = fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 40 })
const inputs = fc.oneof(
  text,
  fc.array(text, { minLength: 1, maxLength: 9 }),
  ids,
  fc.array(ids, { minLength: 1, maxLength: 9 }),
)

t.test('an estimate counts bytes, so that no script costs less because it has fewer characters', (t) => {
  const guess = (input: EmbeddingInput): number =>
    estimateTokens(input, { shape: shapeOf(input), contextLength: null })
  t.equal(guess('a'.repeat(40)), 10)
  t.equal(guess('\u4e2d'.repeat(40)), 30)
  t.equal(guess(['\u4e2d'.repeat(20), 'a'.repeat(20)]), 20)
  t.equal(guess([{ content: [{ type: 'text', text: '\u4e2d'.repeat(40) }] }]), 30)
  t.end()
})

t.test(
  'an input kept as bytes has at least the same bound, and an estimate never exceeds its bound',
  async () => {
    fc.assert(
      fc.property(
        inputs,
        fc.option(fc.integer({ min: 1, max: 200 }), { nil: null }),
        (input, contextLength) => {
          const small = most(input, contextLength) ?? Infinity
          const bytes = bulk(input)
          const large = mostTokens(bytes, shapeOf(bytes), contextLength) ?? Infinity
          const guess = (of: EmbeddingInput | BulkBytes): number =>
            estimateTokens(of, { shape: shapeOf(of), contextLength })
          return small <= large && guess(input) <= small && guess(bytes) <= large
        },
      ),
    )
  },
)
