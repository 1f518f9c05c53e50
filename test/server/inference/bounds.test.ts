/** The maximum cost of a call of a text model, known before anything of it is sent. D25. */
import fc from 'fast-check'
import t from 'tap'
import { TOKENS_ADDED_EACH_MAX, TOKENS_ADDED_FORMS_MAX } from '../../../src/schemas/inference/token-limits.ts'
import { DIALECTS } from '../../../src/schemas/inference/text-request.ts'
import type { ServerTools } from '../../../src/schemas/inference/server-tools.ts'
import { COST_NANO_MAX } from '../../../src/schemas/money/money-limits.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import {
  PICTURE_TOKENS_MAX,
  affordableOutputTokens,
  isPriced,
  lacksToolPrice,
  textBoundOf,
  type TextBoundInput,
} from '../../../src/server/inference/bounds.ts'
import { ASKED, at } from '../../support/inference/bounded-endpoints.ts'
import { NO_LIMITS } from '../../support/money/key-money.ts'
import { textCostNano } from '../../../src/schemas/money/costs.ts'
import { mustSendMax } from '../../../src/server/upstream/inference/spoken.ts'
import { NO_TIERS } from '../../../src/schemas/models/price-conditions.ts'

const OWN = { ownWay: {} } as Partial<Endpoint>
const LIMITED = { ...NO_LIMITS, isKeyLimited: true }

const both = (nano: number | null) => ({ paidNano: nano, anyNano: nano })
/** Bound of an input whose output is free. */
const tokensOf = (input: Partial<TextBoundInput>, contextLength: number | null = null): number | null => {
  const { anyNano } = textBoundOf([at({ outputNanoPerMillionMax: 0 }, { contextLength })], {
    ...ASKED,
    ...input,
  })
  return anyNano === null ? null : anyNano / 1_000
}

const SEARCH: ServerTools = { path: '/tools/0', price: 'search', uses: 3, searches: 2, remedy: null }
const UNBOUNDED: ServerTools = {
  ...SEARCH,
  path: '/tools/0/max_uses',
  uses: null,
  searches: 0,
  remedy: 'a number',
}
/** 10,000 nano-USD for a search. */
const PRICED = { webSearchNano: 10_000 }

t.test('each tool use counts the whole context as input again, and one more answer as output', async (t) => {
  const context = { contextLength: 5_000 }
  const tools = { ...ASKED, serverTools: SEARCH }
  const steps = 4
  t.same(
    textBoundOf([at(PRICED, { ...context, requestNano: 7 })], tools),
    both(steps * (5_000 * 1_000 + 10 * 2_000) + 2 * 10_000 + 7),
  )
  const fetches = { ...ASKED, serverTools: { ...SEARCH, price: 'tokens', searches: 0 } } as const
  t.same(textBoundOf([at({}, context)], fetches), both(steps * (5_000 * 1_000 + 10 * 2_000)))
  t.same(textBoundOf([at(PRICED, context)], { ...tools, choices: 2 }), both(steps * 5_040_000 + 20_000))
  const most = { ...SEARCH, uses: Number.MAX_SAFE_INTEGER, searches: Number.MAX_SAFE_INTEGER }
  t.same(textBoundOf([at(PRICED, context)], { ...ASKED, serverTools: most }), both(COST_NANO_MAX))
  t.equal(affordableOutputTokens([at(PRICED, context)], { ...ASKED, serverTools: most }, COST_NANO_MAX), 0)

  const summarized = { ...tools, compactionPath: '/compaction' }
  const each = 2 * 5_000 * 1_000 + (10 + 70) * 2_000
  const summaries = at({ ...PRICED, maxCompletionTokens: 70 }, context)
  t.same(textBoundOf([summaries], summarized), both(steps * each + 2 * 10_000), 'and a summary')
})

t.test('tools without a maximum, a price or a context have no bound, with a reason', async (t) => {
  const context = { contextLength: 5_000 }
  const unbounded = (target: { endpoint: Endpoint }, serverTools: ServerTools): unknown => {
    const { paidNano, anyNano, unbounded: why } = textBoundOf([target], { ...ASKED, serverTools })
    t.same([paidNano, anyNano], [null, null])
    t.equal(affordableOutputTokens([target], { ...ASKED, serverTools }, COST_NANO_MAX), 0)
    return why
  }
  t.match(unbounded(at(PRICED, context), UNBOUNDED), { path: '/tools/0/max_uses', expected: 'a number' })
  const other = { ...UNBOUNDED, path: '/tools/1/type', price: 'other', remedy: null } as const
  t.match(unbounded(at(PRICED, context), other), {
    path: '/tools/1/type',
    expected: 'tools you run yourself',
  })
  t.match(unbounded(at({}, context), SEARCH), { path: '/tools/0', message: /price .* acme\/m/ })
  t.match(unbounded(at(PRICED), SEARCH), { path: '/tools/0', message: /context .* acme\/m/ })
  t.match(unbounded(at({ ...PRICED, inputNanoPerMillionMax: 0 }, context), UNBOUNDED), { path: /max_uses/ })
})

t.test('a free call needs neither a maximum nor a price of searches', async (t) => {
  const free = at({ inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 0 })
  for (const serverTools of [SEARCH, UNBOUNDED])
    t.same(textBoundOf([free], { ...ASKED, serverTools }), both(0))
  const searches = at({ ...PRICED, inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 0 })
  t.same(textBoundOf([searches], { ...ASKED, serverTools: SEARCH }), both(20_000))
  t.match(textBoundOf([searches], { ...ASKED, serverTools: UNBOUNDED }), both(null))
})

t.test('reports uses that the catalogue has no price for', async (t) => {
  const priced = (
    endpoint: { endpoint: Endpoint },
    price: ServerTools['price'] | null,
  ): readonly boolean[] => {
    const serverTools = price === null ? null : { ...SEARCH, price }
    return [
      isPriced(endpoint.endpoint, { ...ASKED, serverTools }),
      !lacksToolPrice(endpoint.endpoint, serverTools),
    ]
  }
  const free = at({ inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 0 })
  for (const price of [null, 'tokens'] as const) t.same(priced(at(), price), [true, true])
  t.same(priced(at(), 'search'), [false, false])
  t.same(priced(at(PRICED), 'search'), [true, true])
  t.same(priced(at(PRICED), 'other'), [true, false])
  for (const price of ['search', 'other'] as const) t.same(priced(free, price), [true, true])
})

t.test(
  "a tool use that may cost more than the catalogue's price has no bound on the operator's keys",
  async (t) => {
    const dear = { ...ASKED, tiers: { service_tier: 'priority' } }
    const usual = textBoundOf([at()], ASKED)
    t.match(textBoundOf([at()], dear), { ...both(null), unbounded: { path: '/service_tier' } })
    t.same(textBoundOf([at({}, OWN)], dear), { paidNano: 0, anyNano: usual.anyNano })
    t.match(textBoundOf([at({}, OWN), at()], dear), { ...both(null), unbounded: { path: '/service_tier' } })
    const free = at({ inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 0 })
    t.same(textBoundOf([free], dear), both(0), 'what is free is free in every tier')
    t.equal(affordableOutputTokens([at()], dear, 1e9), 0)
  },
)

t.test('stored input counts as the whole context when the workspace uses its own key', async (t) => {
  const stored = { ...ASKED, hasStored: true, tokensMax: 1 }
  const prices = { inputNanoPerMillionMax: 1_000_000, outputNanoPerMillionMax: 0 }
  t.same(textBoundOf([at(prices, { contextLength: 5_000 })], stored), both(100))
  t.same(textBoundOf([at(prices, { contextLength: 5_000, ...OWN })], stored), { paidNano: 0, anyNano: 5_000 })
  t.same(textBoundOf([at(prices, OWN)], stored), { paidNano: 0, anyNano: null })
})

t.test('an input counts a token per byte, plus those for messages, tools and formats', async (t) => {
  t.equal(tokensOf({}), 100)
  t.equal(tokensOf({ messages: 3 }), 100 + 3 * TOKENS_ADDED_EACH_MAX)
  t.equal(tokensOf({ tools: 2 }), 100 + 2 * TOKENS_ADDED_EACH_MAX + TOKENS_ADDED_FORMS_MAX)
  t.equal(tokensOf({ hasFormat: true }), 100 + TOKENS_ADDED_FORMS_MAX)
  t.equal(tokensOf({ hasFormat: true, tools: 1 }), 100 + TOKENS_ADDED_EACH_MAX + TOKENS_ADDED_FORMS_MAX)
  t.equal(tokensOf({ media: 2 }), 100 + 2 * PICTURE_TOKENS_MAX)
})

t.test('no input has more tokens than the context; a document counts as the whole context', async (t) => {
  t.equal(tokensOf({ promptBytes: 9_000 }, 8_192), 8_192)
  t.equal(tokensOf({ media: 1 }, 8_192), 8_192)
  t.equal(tokensOf({ hasLongMedia: true }, 8_192), 8_192)
  t.equal(tokensOf({ hasLongMedia: true }), null)
  t.equal(tokensOf({ promptBytes: 9_000 }, 0), 9_000, 'a context of 0 is not known')
})

t.test('the output is bounded by the request, else by the endpoint, else by the context', async (t) => {
  const input = 100_000
  const context = { contextLength: 5_000 }
  t.same(textBoundOf([at({ maxCompletionTokens: 50 }, context)], ASKED), both(input + 10 * 2_000))
  const open = { ...ASKED, tokensMax: null }
  t.same(textBoundOf([at({ maxCompletionTokens: 50 }, context)], open), both(input + 50 * 2_000))
  t.same(textBoundOf([at({}, context)], open), both(input + 5_000 * 2_000))
  t.same(textBoundOf([at()], open), both(null), 'nothing bounds it')
  t.same(textBoundOf([at()], { ...ASKED, choices: 3 }), both(input + 3 * 10 * 2_000))
})

t.test('output without a price needs no bound', async (t) => {
  const open = { ...ASKED, tokensMax: null, hasLongMedia: true }
  const free = { inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 0 }
  t.same(textBoundOf([at(free, { requestNano: 5 })], open), both(5))
})

t.test('the dearest endpoint bounds a call; endpoints under own credentials count apart', async (t) => {
  const [cheap, dear] = [at(), at({ inputNanoPerMillionMax: 3_000_000_000 }, { requestNano: 1 })]
  const own = at({ outputNanoPerMillionMax: 9_000_000_000 }, OWN)
  t.same(textBoundOf([cheap, dear], ASKED), both(300_000 + 20_000 + 1))
  t.same(textBoundOf([own, cheap], ASKED), { paidNano: 120_000, anyNano: 190_000 })
  t.same(textBoundOf([own], ASKED), { paidNano: 0, anyNano: 190_000 })
})

t.test('an unpriced endpoint has no bound and is named, also when the own key is used', async (t) => {
  const unpriced = { isUnpriced: true, tag: 'acme/u' }
  t.same(textBoundOf([at(), at({}, unpriced)], ASKED), { ...both(null), unpriced: 'acme/u' })
  t.same(textBoundOf([at(), at({}, { ...unpriced, ...OWN })], ASKED), {
    paidNano: 120_000,
    anyNano: null,
    unpriced: 'acme/u',
  })
  t.same(textBoundOf([at({}, { text: null })], ASKED), both(null))
})

t.test('a caller who requests more tokens than can be counted gets the highest bound', async (t) => {
  const most = { ...ASKED, tokensMax: Number.MAX_SAFE_INTEGER, choices: 8 }
  t.same(textBoundOf([at({ outputNanoPerMillionMax: 10_000_000_000 })], most), both(COST_NANO_MAX))
})

t.test('the maximum output is sent when a limit applies to the call and the request sets none', async (t) => {
  const { endpoint } = at({ maxCompletionTokens: 50 }, { contextLength: 100 })
  const counted = { tokensMax: null, limits: LIMITED }
  t.equal(mustSendMax(endpoint, counted), 50)
  t.equal(
    mustSendMax(endpoint, { ...counted, tokensMax: 10 }),
    null,
    "the caller's own stands in the request",
  )
  t.equal(mustSendMax(endpoint, { ...counted, limits: NO_LIMITS }), null, 'no limit')
  t.equal(mustSendMax(endpoint, { tokensMax: null, limits: null }), null, 'no limit')
  t.equal(mustSendMax(at({}, { contextLength: 100 }).endpoint, counted), null, 'context')
})

t.test(
  'the default of a key is the maximum output when a limit applies to the call; it is sent and bounds the cost',
  async (t) => {
    const prices = { inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 1_000_000 }
    const own = { ...LIMITED, keyCountsByok: true }
    const bounded = { maxCompletionTokens: 50 }
    const context = { contextLength: 1_000 }
    const rows: readonly [
      string,
      ReturnType<typeof at>,
      Partial<TextBoundInput>,
      number | null,
      number | null,
    ][] = [
      ['nothing else says one', at(prices), { defaultTokensMax: 30 }, 30, 30],
      ['lower than the context', at(prices, context), { defaultTokensMax: 30 }, 30, 30],
      ['the whole context', at(prices, context), { defaultTokensMax: 1_000 }, null, 1_000],
      ["lower than the endpoint's own", at({ ...prices, ...bounded }), { defaultTokensMax: 30 }, 30, 30],
      ["higher than the endpoint's own", at({ ...prices, ...bounded }), { defaultTokensMax: 80 }, 50, 50],
      ['the request has one', at(prices), { defaultTokensMax: 30, tokensMax: 70 }, null, 70],
      ['no limit counts it', at(prices), { defaultTokensMax: 30, limits: NO_LIMITS }, null, null],
      ['not of own keys', at(prices, OWN), { defaultTokensMax: 30 }, null, null],
      ['of own keys too', at(prices, OWN), { defaultTokensMax: 30, limits: own }, 30, 30],
    ]
    for (const [name, target, more, sent, tokens] of rows) {
      const input = { ...ASKED, tokensMax: null, limits: LIMITED, ...more }
      t.equal(mustSendMax(target.endpoint, input), sent, name)
      t.equal(textBoundOf([target], input).anyNano, tokens, name)
    }
  },
)

const OPENAI = { provider: { slug: 'openai' } } as Partial<Endpoint>
const nano = fc.oneof(fc.nat(2_000), fc.nat(100_000_000), fc.nat(2 ** 31 - 1))
const endpoints = fc
  .record({
    prompt: nano,
    read: nano,
    write: nano,
    completion: nano,
    reasoning: nano,
    requestNano: fc.nat(1_000_000),
    search: fc.option(fc.nat(100_000_000), { nil: null, freq: 4 }),
    contextLength: fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: null }),
    maxCompletionTokens: fc.option(fc.integer({ min: 1, max: 128_000 }), { nil: null }),
  })
  .map(
    ({
      prompt,
      read,
      write,
      completion,
      reasoning,
      requestNano,
      search,
      contextLength,
      maxCompletionTokens,
    }) =>
      at(
        {
          ...(search !== null && { webSearchNano: search }),
          completionNanoPerMillion: completion,
          cacheReadNanoPerMillion: read,
          cacheWriteNanoPerMillion: write,
          cacheWriteHourNanoPerMillion: write,
          reasoningNanoPerMillion: reasoning,
          inputNanoPerMillionMax: Math.max(prompt, read, write),
          outputNanoPerMillionMax: Math.max(completion, reasoning),
          maxCompletionTokens,
          speaks: ['chat', 'responses'],
        },
        { promptNanoPerMillion: prompt, requestNano, contextLength, ...OPENAI },
      ),
  )
const inputs = fc.record({
  dialect: fc.constantFrom(...DIALECTS),
  promptBytes: fc.nat(1_000_000),
  messages: fc.nat(4_096),
  tools: fc.nat(1_024),
  hasFormat: fc.boolean(),
  serverTools: fc.option(
    fc
      .record({ uses: fc.option(fc.integer({ min: 1, max: 20 }), { nil: null, freq: 8 }), others: fc.nat(3) })
      .map(({ uses, others }) => ({ ...SEARCH, uses, searches: Math.max(0, (uses ?? 0) - others) })),
    { nil: null, freq: 2 },
  ),
  media: fc.nat(3),
  hasLongMedia: fc.boolean(),
  hasStored: fc.constant(false),
  tokensMax: fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: null }),
  choices: fc.integer({ min: 1, max: 8 }),
  dearMember: fc.constant(null),
  ...{ tiers: fc.constant(NO_TIERS), from: fc.constant(0), until: fc.constant(0) },
  compactionPath: fc.option(fc.constant('/context_management'), { nil: undefined, freq: 2 }),
})
const share = fc.double({ min: 0, max: 1, noNaN: true })

t.test('no usage within the limits of the request costs more than the bound', async () => {
  fc.assert(
    fc.property(endpoints, inputs, share, share, share, (target, input, one, other, third) => {
      const { endpoint } = target
      const { anyNano } = textBoundOf([target], input)
      if (anyNano === null) return
      const { serverTools } = input
      const steps = 1 + (serverTools?.uses ?? 0)
      const isCompacted = input.compactionPath !== undefined
      const isAll = input.hasLongMedia || serverTools !== null || isCompacted
      const read = isAll ? Infinity : input.promptBytes
      const prompt = Math.min(endpoint.contextLength ?? Infinity, read) * steps * (isCompacted ? 2 : 1)
      const most = input.tokensMax ?? endpoint.text?.maxCompletionTokens ?? endpoint.contextLength
      if (prompt === Infinity || most === null) return
      const summary = isCompacted ? (endpoint.text?.maxCompletionTokens ?? endpoint.contextLength ?? 0) : 0
      const written = (most * input.choices + summary) * steps
      const [cached, output] = [Math.floor(prompt * one), Math.floor(written * other)]
      const cacheRead = Math.floor(cached * third)
      const usage = {
        input: prompt - cached,
        cacheRead,
        cacheWrite: cached - cacheRead,
        output,
        reasoning: written - output,
        searches: serverTools?.searches ?? 0,
      }
      return textCostNano(usage, endpoint.prices) <= anyNano
    }),
    { numRuns: 1_000 },
  )
})

t.test('the affordable tokens fit the available money, and one more token does not', async () => {
  const targets = fc.array(endpoints, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(targets, inputs, fc.nat(2 ** 31 - 1), (all, input, available) => {
      const tokens = affordableOutputTokens(all, input, available)
      const bound = (tokensMax: number) => textBoundOf(all, { ...input, tokensMax }).anyNano ?? Infinity
      if (tokens === null) return bound(1) === bound(1_000_000) && bound(1) <= available
      if (tokens > 0 && bound(tokens) > available) return false
      return bound(tokens + 1) > available
    }),
    { numRuns: 1_000 },
  )
})

t.test('when the input has no bound or exceeds the money, no tokens are affordable', async (t) => {
  t.equal(affordableOutputTokens([at()], ASKED, 100_000), 0)
  t.equal(affordableOutputTokens([at()], ASKED, 102_000), 1)
  t.equal(affordableOutputTokens([at()], ASKED, 99_999), 0)
  t.equal(affordableOutputTokens([at()], ASKED, 0), 0)
  t.equal(affordableOutputTokens([at()], { ...ASKED, hasLongMedia: true }, 1_000_000), 0)
  t.equal(affordableOutputTokens([at({}, { isUnpriced: true })], ASKED, 1_000_000), 0)
  t.equal(affordableOutputTokens([at({ outputNanoPerMillionMax: 0 })], ASKED, 1_000_000), null)
})
