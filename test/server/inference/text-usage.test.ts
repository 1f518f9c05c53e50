/** Which token counts a call of a model that writes is charged by. D24, D26. */
import fc from 'fast-check'
import t from 'tap'
import {
  BYTES_PER_TOKEN,
  REASONING_TOKENS_PER_SECOND,
  TAUGHT_CALLS_MIN,
  TAUGHT_PAIRS_MAX,
  TAUGHT_PROMPT_BYTES_MAX,
  TAUGHT_PROMPT_BYTES_MIN,
  TOKENS_PER_100_BYTES_MAX,
  TOKENS_PER_100_BYTES_MIN,
  REPORTED_TOKENS_MAX,
} from '../../../src/schemas/inference/token-limits.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import {
  TAUGHT_CALLS_KEPT,
  judgeTextUsage,
  isPlainPrompt,
  LearnedRates,
  TextRates,
  type SeenText,
} from '../../../src/server/inference/charge.ts'
import type { TokenUsage } from '../../../src/dialects/parts.ts'
import { REPORTED_SEARCHES_MAX } from '../../../src/dialects/usage.ts'

const TOLDOnce: TokenUsage = { input: 20, cacheRead: 5, cacheWrite: 1, output: 30, reasoning: 4 }
const SEEN: SeenText = {
  text: { bytes: 400, mediaTokens: 0 },
  contextTokens: null,
  outputTokensMax: Infinity,
  reasons: false,
  seconds: 10,
  isTeaching: true,
  outputBytes: 200,
  isWhole: true,
}
const ESTIMATED_INPUT = { input: 400 / BYTES_PER_TOKEN, cacheRead: 0, cacheWrite: 0 }
const ESTIMATED_OUTPUT = { output: 200 / BYTES_PER_TOKEN, reasoning: 0 }

const judged = (reported: Partial<TokenUsage> | null, seen: Partial<SeenText> = {}) =>
  judgeTextUsage(
    reported === null ? null : { ...TOLDOnce, ...reported },
    { ...SEEN, ...seen },
    new TextRates(),
  )

t.test('credible figures of a whole answer are used unchanged', async (t) => {
  t.same(judged({}), { usage: TOLDOnce, isEstimated: false })
  const most = { input: REPORTED_TOKENS_MAX, output: REPORTED_TOKENS_MAX }
  t.same(judged(most), { usage: { ...TOLDOnce, ...most }, isEstimated: false }, 'above every bound')
})

t.test('searches stay as reported, also next to estimated tokens', async (t) => {
  t.same(judged({ searches: 3 }), { usage: { ...TOLDOnce, searches: 3 }, isEstimated: false })
  const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  const usage = { ...ESTIMATED_INPUT, ...ESTIMATED_OUTPUT, searches: 2 }
  t.same(judged({ ...none, searches: 2 }), { usage, isEstimated: true })
  for (const lie of [0, -1, 0.5, NaN, Infinity]) t.same(judged({ searches: lie }).usage, TOLDOnce, `${lie}`)
  t.match(judged({ searches: 2 ** 40 }).usage, { searches: REPORTED_SEARCHES_MAX })
})

t.test('without figures both sides are estimated', async (t) => {
  t.same(judged(null), { usage: { ...ESTIMATED_INPUT, ...ESTIMATED_OUTPUT }, isEstimated: true })
})

t.test('an invalid figure makes only its own side an estimate', async (t) => {
  for (const lie of [-1, 0.5, NaN, Infinity, 2 ** 53, 1e300, REPORTED_TOKENS_MAX + 1]) {
    for (const name of ['input', 'cacheRead', 'cacheWrite'] as const) {
      const { usage, isEstimated } = judged({ [name]: lie })
      t.same(usage, { ...TOLDOnce, ...ESTIMATED_INPUT }, `${name} ${lie}`)
      t.ok(isEstimated)
    }
    for (const name of ['output', 'reasoning'] as const) {
      const { usage, isEstimated } = judged({ [name]: lie })
      t.same(usage, { ...TOLDOnce, ...ESTIMATED_OUTPUT }, `${name} ${lie}`)
      t.ok(isEstimated)
    }
  }
})

t.test('zero tokens for delivered output, or for a sent prompt, are not a credible figure', async (t) => {
  t.same(judged({ output: 0, reasoning: 0 }).usage, { ...TOLDOnce, ...ESTIMATED_OUTPUT })
  t.same(judged({ input: 0, cacheRead: 0, cacheWrite: 0 }).usage, { ...TOLDOnce, ...ESTIMATED_INPUT })
  t.same(judged({ output: 0 }), { usage: { ...TOLDOnce, output: 0 }, isEstimated: false }, 'reasoning alone')
  t.same(judged({ input: 0 }), { usage: { ...TOLDOnce, input: 0 }, isEstimated: false }, 'all from the cache')
  const empty = { output: 0, reasoning: 0 }
  t.same(judged(empty, { outputBytes: 0 }), { usage: { ...TOLDOnce, ...empty }, isEstimated: false })
})

t.test('a broken answer is charged as reported, unless the figure is older than the output', async (t) => {
  const isWhole = false
  t.same(judged({}, { isWhole }), { usage: TOLDOnce, isEstimated: true })
  t.same(judged({ output: 1, reasoning: 0 }, { isWhole }).usage, { ...TOLDOnce, ...ESTIMATED_OUTPUT })
  t.same(judged({ output: 0, reasoning: 0 }, { isWhole, outputBytes: 0 }).usage, {
    ...TOLDOnce,
    output: 0,
    reasoning: 0,
  })
})

t.test('media add their own tokens to an estimate, and no estimate exceeds the context', async (t) => {
  const text = { bytes: 400, mediaTokens: 1_100 }
  t.match(judged(null, { text }).usage, { input: 1_200 })
  t.match(judged(null, { text, contextTokens: 1_000 }).usage, { input: 1_000 })
  t.match(judged({}, { text }).usage, TOLDOnce, 'a figure that the provider reported counts')
})

t.test('hidden reasoning of an abandoned call grows with its time, up to its maximum', async (t) => {
  const left = { isWhole: false, reasons: true }
  const usageAfter = (seconds: number, more: Partial<SeenText> = {}) =>
    judged(null, { ...left, seconds, ...more }).usage
  const text = 200 / BYTES_PER_TOKEN
  t.match(usageAfter(0.2), { output: text, reasoning: 0.2 * REASONING_TOKENS_PER_SECOND })
  t.match(usageAfter(60), { output: text, reasoning: 60 * REASONING_TOKENS_PER_SECOND })
  t.match(usageAfter(60, { outputTokensMax: 150 }), { output: text, reasoning: 150 - text })
  t.match(usageAfter(60, { outputTokensMax: 20 }), { output: 20, reasoning: 0 })
  t.match(usageAfter(60, { reasons: false }), { reasoning: 0 })
  t.match(usageAfter(60, { reasons: null }), { reasoning: 0 }, 'no call has shown any')
})

t.test('calls with low effort do not change the estimate of hidden reasoning with high effort', async (t) => {
  const rates = taught(
    { ...PLAIN, output: 80, reasoning: 1 },
    { reasons: true, effort: 'minimal', seconds: 0 },
  )
  const reasoning = (effort: SeenText['effort']): number =>
    estimated(rates, { reasons: true, seconds: 120, ...(effort && { effort }) }).reasoning
  t.ok(reasoning('minimal') <= 1)
  t.equal(reasoning('high'), 120 * REASONING_TOKENS_PER_SECOND)
  t.equal(reasoning(undefined), 120 * REASONING_TOKENS_PER_SECOND)
})

t.test('hidden reasoning is estimated while the provider reports no output yet', async (t) => {
  const placeholder = { output: 0, reasoning: 0 }
  const { usage } = judged(placeholder, { isWhole: false, reasons: true, outputBytes: 0, seconds: 2 })
  t.same(usage, { ...TOLDOnce, output: 0, reasoning: 2 * REASONING_TOKENS_PER_SECOND })
})

/** Rates that so many equal calls have taught. */
function taught(
  reported: Partial<TokenUsage>,
  seen: Partial<SeenText> = {},
  calls = TAUGHT_CALLS_MIN,
): TextRates {
  const rates = new TextRates()
  for (let nth = 0; nth < calls; nth++)
    judgeTextUsage({ ...TOLDOnce, ...reported }, { ...SEEN, ...seen }, rates)
  return rates
}
const PLAIN = { input: 160, cacheRead: 0, cacheWrite: 0, output: 80, reasoning: 0 }
const estimated = (rates: TextRates, seen: Partial<SeenText> = {}): TokenUsage =>
  judgeTextUsage(null, { ...SEEN, isWhole: false, ...seen }, rates).usage

t.test('whole answers with credible figures train the estimate, from the eighth on', async (t) => {
  const before = estimated(new TextRates())
  t.same(estimated(taught(PLAIN, {}, TAUGHT_CALLS_MIN - 1)), before)
  t.match(estimated(taught(PLAIN)), { input: 160, output: 80 })
  t.match(estimated(taught({ ...PLAIN, input: 100, cacheRead: 50, cacheWrite: 10 })), { input: 160 })
  for (const [reported, seen] of [
    [PLAIN, { isWhole: false }],
    [PLAIN, { isTeaching: false }],
    [{ ...PLAIN, output: -1 }, {}],
    [{ ...PLAIN, input: 0.5 }, {}],
    [PLAIN, { text: { bytes: TAUGHT_PROMPT_BYTES_MIN - 1, mediaTokens: 0 } }],
    [PLAIN, { text: { bytes: TAUGHT_PROMPT_BYTES_MAX + 1, mediaTokens: 0 } }],
  ] as const)
    t.same(estimated(taught(reported, seen, 100)), before, JSON.stringify([reported, seen]))
})

t.test('a ratio that no ordinary text has is ignored, not limited', async (t) => {
  const before = estimated(new TextRates())
  const { bytes } = SEEN.text
  for (const rate of [TOKENS_PER_100_BYTES_MIN - 1, TOKENS_PER_100_BYTES_MAX + 1].map((most) => most / 100)) {
    const rates = taught({ ...PLAIN, input: rate * bytes, output: rate * SEEN.outputBytes }, {}, 100)
    t.same(estimated(rates), before, String(rate))
  }
  for (const rate of [TOKENS_PER_100_BYTES_MIN / 100, TOKENS_PER_100_BYTES_MAX / 100]) {
    const rates = taught({ ...PLAIN, input: rate * bytes, output: rate * SEEN.outputBytes })
    t.match(estimated(rates), { input: rate * bytes, output: rate * SEEN.outputBytes }, String(rate))
  }
})

t.test('older calls lose weight, so that the latest ones count most', async (t) => {
  const rates = taught(PLAIN, {}, 1_000)
  for (let nth = 0; nth < 8 * TAUGHT_CALLS_KEPT; nth++)
    judgeTextUsage({ ...PLAIN, input: 80, output: 40 }, SEEN, rates)
  t.match(estimated(rates), { input: 81, output: 41 })
})

t.test('calls train the estimate of how much hidden reasoning a model does, and how fast', async (t) => {
  const left = (seconds: number): Partial<SeenText> => ({ reasons: true, seconds, outputBytes: 0 })
  for (const reported of [
    { ...PLAIN, output: 50, reasoning: 950 },
    { ...PLAIN, output: 1_000 },
  ]) {
    const rates = taught(reported, { reasons: true })
    t.match(estimated(rates, left(1_000)), { reasoning: 950 }, 'no more than usual')
    t.match(estimated(rates, left(2)), { reasoning: 200 }, '1,000 tokens took 10 s')
    t.match(estimated(rates, { ...left(1_000), reasons: null }), { reasoning: 950 })
    t.match(estimated(rates, { ...left(1_000), reasons: false }), { reasoning: 0 })
  }
  const shown = taught({ ...PLAIN, output: 10, reasoning: 40 }, { reasons: true })
  t.match(estimated(shown, left(1_000)), { reasoning: 0 }, 'what is delivered is not hidden')
  const without = taught({ ...PLAIN, output: 950 }, { reasons: false }, 100)
  t.match(estimated(without, { ...left(1), reasons: true }), { reasoning: 95 }, 'a call that must not think')
})

t.test('a prompt with media, provider tools or stored input does not train the estimate', async (t) => {
  const media = { image: 0, audio: 0, video: 0, file: 0 }
  const size = { ...{ promptBytesMost: 1, messages: 1, tools: 1, hasFormat: false, tokensMax: null } }
  const plain = { ...size, text: SEEN.text, serverTools: null, media }
  t.ok(isPlainPrompt(plain))
  for (const kind of ['image', 'audio', 'video', 'file'])
    t.notOk(isPlainPrompt({ ...plain, media: { ...media, [kind]: 1 } }), kind)
  t.notOk(isPlainPrompt({ ...plain, hasStored: true }))
  const serverTools = { path: '/tools/0', uses: 1, searches: 1, price: 'search', remedy: null } as const
  t.notOk(isPlainPrompt({ ...plain, serverTools }))
})

t.test('learns rates per organization and endpoint, or per workspace with own credentials', async (t) => {
  const rates = new LearnedRates()
  const at = (tag: string, more: object = {}) => ({ tag, ...more }) as Endpoint
  const by = (organizationId: string, workspaceId = 'w') => ({ organizationId, workspaceId, key: 'k' })
  t.equal(rates.of(at('p/m'), by('o')), rates.of(at('p/m'), by('o', 'other')))
  t.not(rates.of(at('p/m'), by('o')), rates.of(at('p/m'), by('other')))
  t.not(rates.of(at('p/m'), by('o')), rates.of(at('p/other'), by('o')))
  const own = at('p/m', { ownWay: {} })
  t.equal(rates.of(own, by('o')), rates.of(at('p/m', { ownWay: {} }), by('o')))
  t.not(rates.of(own, by('o')), rates.of(at('p/m'), by('o')))
  t.not(rates.of(own, by('o')), rates.of(own, by('o', 'other')))
})

t.test('calls of another organization change nothing, and the number of kept rates is limited', async (t) => {
  const rates = new LearnedRates()
  const endpoint = { tag: 'p/m' } as Endpoint
  const by = (organizationId: string) => ({ organizationId, workspaceId: organizationId, key: 'k' })
  const before = estimated(rates.of(endpoint, by('victim')))
  for (let nth = 0; nth < 1_000; nth++)
    judgeTextUsage({ ...PLAIN, input: 60, output: 30 }, SEEN, rates.of(endpoint, by('hostile')))
  t.same(estimated(rates.of(endpoint, by('victim'))), before)
  const [mine, other] = [rates.of(endpoint, by('mine')), rates.of(endpoint, by('other'))]
  for (let nth = 0; nth < TAUGHT_PAIRS_MAX - 1; nth++) {
    rates.of(endpoint, by(`o${nth}`))
    rates.of(endpoint, by('mine'))
  }
  t.equal(rates.of(endpoint, by('mine')), mine, 'used last')
  t.not(rates.of(endpoint, by('other')), other, 'used least recently')
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

t.test('whatever a provider reports, usage is whole tokens, and delivered output is not free', async () => {
  const rates = new TextRates()
  const seen = fc.record({
    text: fc.record({ bytes: fc.nat(2 ** 25), mediaTokens: fc.nat(100_000) }),
    contextTokens: fc.constantFrom(null, 128_000),
    outputTokensMax: fc.constantFrom(Infinity, 1, 4_096),
    reasons: fc.constantFrom(true, false, null),
    seconds: fc.double({ min: 0, max: 3_600, noNaN: true }),
    isTeaching: fc.boolean(),
    outputBytes: fc.nat(2 ** 27),
    isWhole: fc.boolean(),
  })
  fc.assert(
    fc.property(lies, seen, (reported, it) => {
      const { usage } = judgeTextUsage(reported, it, rates)
      const areCounts = Object.values(usage).every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)
      const isPaid = it.outputBytes === 0 || usage.output + usage.reasoning > 0
      return (
        areCounts && isPaid && (it.text.bytes === 0 || usage.input + usage.cacheRead + usage.cacheWrite > 0)
      )
    }),
    { numRuns: 2_000 },
  )
})
