/** The largest maxima that a body can have: it is refused with its path, or has a bound. D4, D25. */
import fc from 'fast-check'
import t from 'tap'
import { ASKED_MAX, CHOICES_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { COST_NANO_MAX } from '../../../src/schemas/money/money-limits.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import { affordableOutputTokens, textBoundOf } from '../../../src/server/inference/bounds.ts'
import { boundInputOf } from '../../../src/server/inference/plan.ts'
import { readBody } from '../../../src/workers/read-body.ts'
import { at as bounded } from '../../support/inference/bounded-endpoints.ts'
import { NO_LIMITS } from '../../support/money/key-money.ts'

const NOW = { from: 0, until: 0 }
const LIMITS = { ...NO_LIMITS, isKeyLimited: true }

function at(nanoPerMillion: number, contextLength: number | null): { endpoint: Endpoint } {
  const prices = {
    inputNanoPerMillionMax: nanoPerMillion,
    outputNanoPerMillionMax: nanoPerMillion,
    webSearchNano: nanoPerMillion,
  }
  return bounded({ ...prices, speaks: [] }, { contextLength })
}

const count = fc.oneof(
  fc.constantFrom(1, ASKED_MAX, ASKED_MAX + 1, 1e21, 1e308, Number.MAX_VALUE),
  fc.integer({ min: 1, max: ASKED_MAX }),
)
const member = fc.option(count, { nil: null })
const user = [{ role: 'user', content: 'x' }]
const bodies: fc.Arbitrary<readonly [Dialect, object]> = fc.oneof(
  fc
    .record({
      max_tokens: member,
      max_completion_tokens: member,
      n: fc.integer({ min: 1, max: CHOICES_MAX }),
    })
    .map((more) => ['chat', { ...more, messages: user }] as const),
  fc
    .record({ max_output_tokens: member, max_tool_calls: member })
    .map((more) => ['responses', { ...more, input: 'x', tools: [{ type: 'web_search' }] }] as const),
  fc.record({ max_tokens: count, uses: fc.array(count, { maxLength: 4 }) }).map(({ max_tokens, uses }) => {
    const tools = uses.map((max_uses) => ({ type: 'web_search_20250305', name: 'w', max_uses }))
    return ['messages', { max_tokens, tools, messages: user }] as const
  }),
)
const targets = fc
  .tuple(fc.constantFrom(0, 1, 2 ** 31 - 1, 1e12), fc.constantFrom(null, 0, 1, 2_000_000, ASKED_MAX))
  .map(([price, context]) => [at(price, context)])

t.test('no maximum makes a bound throw: it is refused with its path, or the bound is whole', async (t) => {
  const isWhole = (one: number | null): boolean => one === null || (Number.isSafeInteger(one) && one >= 0)
  fc.assert(
    fc.property(bodies, targets, fc.integer({ min: 0, max: COST_NANO_MAX }), (body, all, available) => {
      const [dialect, members] = body
      const bytes = Uint8Array.from(Buffer.from(JSON.stringify({ model: 'm', ...members })))
      const read = readBody({ body: dialect, bytes, isOnLoop: false })
      if (!read.ok) {
        const [issue] = read.failure.metadata?.['issues'] as readonly { path: string; expected: string }[]
        const asked = Reflect.get(members, String(issue?.path.slice(1))) as number
        return asked > ASKED_MAX && issue?.expected === `integer from 1 to ${ASKED_MAX}`
      }
      const request = read.value as unknown as Parameters<typeof boundInputOf>[0]['request']
      const input = boundInputOf({ request, limits: LIMITS, defaultTokensMax: null }, NOW)
      const { anyNano } = textBoundOf(all, input)
      return isWhole(anyNano) && isWhole(affordableOutputTokens(all, input, available))
    }),
    { numRuns: 2_000 },
  )
  t.pass('none throws')
})

t.test('a product that overflows costs the highest possible cost of a call, at any price', async (t) => {
  const size = {
    text: { bytes: 1, mediaTokens: 0 },
    ...{ promptBytesMost: 1, messages: 1, tools: 0, hasFormat: false, serverTools: null },
    ...{ media: { image: 0, audio: 0, video: 0, file: 0 }, tokensMax: 1e308 },
  }
  const request = { dialect: 'chat', size, choices: CHOICES_MAX, dearMember: null, tiers: {} } as const
  const input = boundInputOf({ request, limits: LIMITS, defaultTokensMax: null }, NOW)
  for (const price of [1, 1e12])
    t.equal(textBoundOf([at(price, null)], input).anyNano, COST_NANO_MAX, String(price))
  t.equal(textBoundOf([at(0, null)], input).anyNano, 0)
})
