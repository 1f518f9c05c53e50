/** What a call may cost at most whose endpoint speaks another form. D25. */
import t from 'tap'
import { MAKER_TOKENS_MIN } from '../../../src/schemas/models/openai-maker.ts'
import {
  TOKENS_ADDED_EACH_MAX,
  TOKENS_ADDED_FORMS_MAX,
  TOKENS_TRANSLATED_TOOL_MAX,
} from '../../../src/schemas/inference/token-limits.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import { affordableOutputTokens, textBoundOf } from '../../../src/server/inference/bounds.ts'
import { ASKED, at } from '../../support/inference/bounded-endpoints.ts'

t.test('a rewritten request may contain the tools of its earlier turns', async (t) => {
  const target = at({ speaks: ['messages'], outputNanoPerMillionMax: 0 })
  const written = (dialect: Dialect, more = {}): number | null =>
    textBoundOf([target], { ...ASKED, ...more, dialect }).anyNano
  t.equal(written('messages'), 100_000)
  for (const dialect of ['chat', 'responses'] as const) {
    t.equal(written(dialect), (100 + TOKENS_ADDED_FORMS_MAX) * 1_000)
    t.equal(written(dialect, { hasFormat: true }), (100 + TOKENS_ADDED_FORMS_MAX) * 1_000, 'once')
  }
  const none = at({ speaks: [], outputNanoPerMillionMax: 0 })
  t.equal(textBoundOf([none], ASKED).anyNano, 100_000, 'an endpoint of ours speaks every form')
})

t.test('a rewritten tool may be longer than in the request of the caller', async (t) => {
  const target = at({ speaks: ['messages'], outputNanoPerMillionMax: 0 })
  const bound = (dialect: Dialect): number | null =>
    textBoundOf([target], { ...ASKED, dialect, tools: 3 }).anyNano
  const each = TOKENS_ADDED_EACH_MAX + TOKENS_TRANSLATED_TOOL_MAX
  t.equal(bound('responses'), (100 + TOKENS_ADDED_FORMS_MAX + 3 * each) * 1_000)
  t.equal(bound('messages'), (100 + TOKENS_ADDED_FORMS_MAX + 3 * TOKENS_ADDED_EACH_MAX) * 1_000)
})

t.test('a bound for OpenAI responses counts the maximum that the translation sends', async (t) => {
  const speaks = ['chat', 'responses'] as const
  const provider = (slug: string) => ({ provider: { slug } }) as Partial<Endpoint>
  const priced = { speaks, inputNanoPerMillionMax: 0, outputNanoPerMillionMax: 1_000_000 }
  const openai = at(priced, provider('openai'))
  const tokens = (target: typeof openai, dialect: Dialect, tokensMax: number): number | null =>
    textBoundOf([target], { ...ASKED, dialect, tokensMax }).anyNano
  t.equal(tokens(openai, 'messages', 1), MAKER_TOKENS_MIN)
  t.equal(tokens(openai, 'messages', MAKER_TOKENS_MIN + 1), MAKER_TOKENS_MIN + 1)
  t.equal(tokens(openai, 'chat', 1), 1)
  t.equal(tokens(at(priced, provider('xai')), 'messages', 1), 1)
  const asked = { ...ASKED, dialect: 'messages' } as const
  t.equal(affordableOutputTokens([openai], asked, MAKER_TOKENS_MIN - 1), 0)
  t.equal(affordableOutputTokens([openai], asked, MAKER_TOKENS_MIN), MAKER_TOKENS_MIN)
})
