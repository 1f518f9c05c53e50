/** Which token counts a call of a model that writes is charged by. D24, D26. */
import fc from 'fast-check'
import t from 'tap'
import {
  BYTES_PER_TOKEN,
  RATE_CALLS_MAX,
  SEARCHES_TOLD_MAX,
  TOKENS_TOLD_MAX,
} from '../../../../src/schemas/inference/token-limits.ts'
import type { TokenUsage } from '../../../../src/server/ports/inference/inference.ts'
import type { Endpoint } from '../../../../src/server/ports/models/models.ts'
import {
  judgeTextUsage,
  LearnedRates,
  TextRates,
  TokensPerByte,
} from '../../../../src/server/upstream/inference/text-usage.ts'

const TOLD: TokenUsage = { input: 20, cacheRead: 5, cacheWrite: 1, output: 30, reasoning: 4 }
const SEEN = { promptBytes: 400, outputBytes: 200, isWhole: true }
const ESTIMATED_INPUT = { input: 400 / BYTES_PER_TOKEN, cacheRead: 0, cacheWrite: 0 }
const ESTIMATED_OUTPUT = { output: 200 / BYTES_PER_TOKEN, reasoning: 0 }

const judged = (told: Partial<TokenUsage> | null, seen: Partial<typeof SEEN> = {}) =>
  judgeTextUsage(told === null ? null : { ...TOLD, ...told }, { ...SEEN, ...seen }, new TextRates())

t.test('credible figures of a whole answer are taken as they are', async (t) => {
  t.same(judged({}), { usage: TOLD, isEstimated: false })
  const most = { input: TOKENS_TOLD_MAX, output: TOKENS_TOLD_MAX }
  t.same(judged(most), { usage: { ...TOLD, ...most }, isEstimated: false }, 'above every bound')
})

t.test('searches stay as they were told, also beside tokens that are estimated', async (t) => {
  t.same(judged({ searches: 3 }), { usage: { ...TOLD, searches: 3 }, isEstimated: false })
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  const usage = { ...ESTIMATED_INPUT, ...ESTIMATED_OUTPUT, searches: 2 }
  t.same(judged({ ...none, searches: 2 }), { usage, isEstimated: true })
  for (const lie of [0, -1, 0.5, NaN, Infinity]) t.same(judged({ searches: lie }).usage, TOLD, `${lie}`)
  t.match(judged({ searches: 2 ** 40 }).usage, { searches: SEARCHES_TOLD_MAX })
})

t.test('without figures both sides are estimated', async (t) => {
  t.same(judged(null), { usage: { ...ESTIMATED_INPUT, ...ESTIMATED_OUTPUT }, isEstimated: true })
})

t.test('a figure that is no count makes its own side an estimate, and leaves the other', async (t) => {
  for (const lie of [-1, 0.5, NaN, Infinity, 2 ** 53, 1e300, TOKENS_TOLD_MAX + 1]) {
    for (const name of ['input', 'cacheRead', 'cacheWrite'] as const) {
      const { usage, isEstimated } = judged({ [name]: lie })
      t.same(usage, { ...TOLD, ...ESTIMATED_INPUT }, `${name} ${lie}`)
      t.ok(isEstimated)
    }
    for (const name of ['output', 'reasoning'] as const) {
      const { usage, isEstimated } = judged({ [name]: lie })
      t.same(usage, { ...TOLD, ...ESTIMATED_OUTPUT }, `${name} ${lie}`)
      t.ok(isEstimated)
    }
  }
})

t.test(
  'no tokens of an output that was delivered, or of a prompt that was sent, are no figures',
  async (t) => {
    t.same(judged({ output: 0, reasoning: 0 }).usage, { ...TOLD, ...ESTIMATED_OUTPUT })
    t.same(judged({ input: 0, cacheRead: 0, cacheWrite: 0 }).usage, { ...TOLD, ...ESTIMATED_INPUT })
    t.same(judged({ output: 0 }), { usage: { ...TOLD, output: 0 }, isEstimated: false }, 'reasoning alone')
    t.same(judged({ input: 0 }), { usage: { ...TOLD, input: 0 }, isEstimated: false }, 'all from the cache')
    const empty = { output: 0, reasoning: 0 }
    t.same(judged(empty, { outputBytes: 0 }), { usage: { ...TOLD, ...empty }, isEstimated: false })
  },
)

t.test(
  'a broken answer is charged as told, unless the figure is older than what was delivered',
  async (t) => {
    const isWhole = false
    t.same(judged({}, { isWhole }), { usage: TOLD, isEstimated: true })
    t.same(judged({ output: 1, reasoning: 0 }, { isWhole }).usage, { ...TOLD, ...ESTIMATED_OUTPUT })
    t.same(judged({ output: 0, reasoning: 0 }, { isWhole, outputBytes: 0 }).usage, {
      ...TOLD,
      output: 0,
      reasoning: 0,
    })
  },
)

t.test('whole answers with credible figures teach the estimate, and no others do', async (t) => {
  const rates = new TextRates()
  const estimate = () => judgeTextUsage(null, { ...SEEN, isWhole: false }, rates).usage
  const before = estimate()
  judgeTextUsage(TOLD, { ...SEEN, isWhole: false }, rates)
  judgeTextUsage({ ...TOLD, output: -1 }, SEEN, rates)
  judgeTextUsage({ ...TOLD, input: 0.5 }, SEEN, rates)
  judgeTextUsage(null, SEEN, rates)
  t.same(estimate(), before)
  judgeTextUsage(TOLD, SEEN, rates)
  t.match(estimate(), { input: 26, output: 34 })
})

t.test('a rate follows the last calls alone', async (t) => {
  const rate = new TokensPerByte()
  t.equal(rate.estimate(1_000), 1_000 / BYTES_PER_TOKEN)
  for (let nth = 0; nth < RATE_CALLS_MAX; nth++) rate.learn(100, 100)
  t.equal(rate.estimate(1_000), 1_000)
  for (let nth = 0; nth < RATE_CALLS_MAX - 1; nth++) rate.learn(10, 100)
  t.ok(rate.estimate(1_000) > 100, 'the first of the older calls still counts')
  rate.learn(10, 100)
  t.equal(rate.estimate(1_000), 100)
})

t.test(
  'hidden reasoning makes no byte more than a token, and what is no count teaches nothing',
  async (t) => {
    const rate = new TokensPerByte()
    for (const [tokens, bytes] of [
      [0, 10],
      [10, 0],
      [-1, 10],
      [NaN, 10],
      [10, NaN],
    ] as const)
      rate.learn(tokens, bytes)
    t.equal(rate.estimate(8), 8 / BYTES_PER_TOKEN)
    rate.learn(50_000, 10)
    t.equal(rate.estimate(8), 8)
    t.equal(rate.estimate(0), 0)
    t.equal(rate.estimate(1), 1)
  },
)

t.test('an endpoint has one set of rates under all of its models, a workspace one of its own', async (t) => {
  const rates = new LearnedRates()
  const at = (tag: string, more: object = {}) => ({ tag, ...more }) as Endpoint
  t.equal(rates.of(at('p/m')), rates.of(at('p/m')))
  t.not(rates.of(at('p/m')), rates.of(at('p/other')))
  const own = at('p/m', { ownWay: {} })
  t.equal(rates.of(own), rates.of(own))
  t.not(rates.of(own), rates.of(at('p/m')))
  t.not(rates.of(own), rates.of(at('p/m', { ownWay: {} })))
})

const figure = fc.oneof(
  fc.nat(1_000),
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 2 ** 53, 2 ** 1_000),
)
const lies = fc.option(
  fc.record({ input: figure, cacheRead: figure, cacheWrite: figure, output: figure, reasoning: figure }),
  { nil: null },
)

t.test('whatever a provider tells, the usage is counts, and delivered output is never free', async () => {
  const rates = new TextRates()
  const seen = fc.record({
    promptBytes: fc.nat(2 ** 25),
    outputBytes: fc.nat(2 ** 27),
    isWhole: fc.boolean(),
  })
  fc.assert(
    fc.property(lies, seen, (told, it) => {
      const { usage } = judgeTextUsage(told, it, rates)
      const areCounts = Object.values(usage).every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)
      const isPaid = it.outputBytes === 0 || usage.output + usage.reasoning > 0
      return (
        areCounts && isPaid && (it.promptBytes === 0 || usage.input + usage.cacheRead + usage.cacheWrite > 0)
      )
    }),
    { numRuns: 20_000 },
  )
})
