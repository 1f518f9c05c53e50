import t from 'tap'
import { REPORTED_TOKENS_MAX } from '../../../src/schemas/inference/token-limits.ts'
import { USAGE_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { MessagesUsage } from '../../../src/dialects/messages/usage.ts'
import { REPORTED_SEARCHES_MAX } from '../../../src/dialects/usage.ts'

const json = (usage: unknown): Buffer => Buffer.from(JSON.stringify(usage))

function reportedBy(begun: unknown, ...reported: readonly unknown[]): MessagesUsage {
  const usage = new MessagesUsage()
  if (begun !== undefined) usage.begun(json(begun))
  for (const one of reported) usage.update(json(one))
  return usage
}

const NONE = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0 }

t.test('the input of the first event and the totals of later events make one usage', (t) => {
  const counts = { input_tokens: 3, cache_creation_input_tokens: 10, cache_read_input_tokens: 100 }
  const created = { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 }
  const begun = { ...counts, cache_creation: created, output_tokens: 1 }
  const input = { input: 3, cacheRead: 100, cacheWrite: 10, cacheWriteHour: 4 }
  t.same(reportedBy(begun, { output_tokens: 7 }).tokens, { ...NONE, ...input, output: 7 })
  t.same(reportedBy(begun, { output_tokens: 2 }, { output_tokens: 9 }).tokens, {
    ...NONE,
    ...input,
    output: 9,
  })
  t.same(reportedBy(begun).tokens, { ...NONE, ...input }, 'the output of the begin is a placeholder')
  const search = { input_tokens: 900, output_tokens: 7, cache_read_input_tokens: 0 }
  t.same(reportedBy(begun, search).tokens, { ...NONE, ...input, input: 900, output: 7 })
  t.same(reportedBy({ input_tokens: 0 }, { input_tokens: 9, output_tokens: 2 }).tokens, {
    ...{ ...NONE, input: 9, output: 2 },
  })
  t.same(reportedBy({ input_tokens: 9 }, { input_tokens: 0, output_tokens: 2 }).tokens, {
    ...{ ...NONE, input: 9, output: 2 },
  })
  t.end()
})

t.test('thinking counts as output, and one-hour cache writes count as cache writes', (t) => {
  const thought = (output: number, thinking: unknown): unknown =>
    reportedBy(undefined, { output_tokens: output, output_tokens_details: { thinking_tokens: thinking } })
      .tokens
  t.match(thought(10, 4), { output: 6, reasoning: 4 })
  t.match(thought(10, 40), { output: 0, reasoning: 10 })
  t.match(thought(10, -1), { output: 10, reasoning: 0 })
  const parts = { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 }
  t.match(reportedBy({ cache_creation: parts }).tokens, { cacheWrite: 5, cacheWriteHour: 3 })
  t.match(reportedBy({ cache_creation_input_tokens: 1, cache_creation: null }).tokens, { cacheWrite: 1 })
  t.end()
})

t.test('the largest reported number of searches counts, up to its maximum', (t) => {
  const searched = (...figures: readonly unknown[]): unknown => {
    const answer = figures.map((web_search_requests) => ({ server_tool_use: { web_search_requests } }))
    return reportedBy({ input_tokens: 1 }, ...answer).tokens?.searches
  }
  t.equal(searched(2), 2)
  t.equal(searched(0, 3, 1), 3)
  t.equal(searched(10 ** 9), REPORTED_SEARCHES_MAX)
  for (const none of [0, -1, 1.5, '4', null, {}, 1e300]) t.equal(searched(none), undefined, String(none))
  t.notHas(reportedBy({ input_tokens: 1, server_tool_use: null }).tokens ?? {}, { searches: 0 })
  t.end()
})

t.test('counts searches by their results until their number is reported', (t) => {
  const usage = new MessagesUsage()
  usage.saw(0)
  t.equal(usage.tokens, null)
  usage.saw(2)
  t.same(usage.tokens, { ...NONE, searches: 2 })
  usage.begun(json({ input_tokens: 3, server_tool_use: { web_search_requests: 0 } }))
  t.match(usage.tokens, { input: 3, searches: 2 })
  usage.update(json({ output_tokens: 3, server_tool_use: { web_search_requests: 1 } }))
  t.match(usage.tokens, { input: 3, searches: 1 })
  t.end()
})

t.test('steps that the totals omit, for example a compaction, are added to them', (t) => {
  const message = { type: 'message', input_tokens: 23_000, output_tokens: 1_000 }
  const created = { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 }
  const compaction = {
    ...{ type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
    ...{ cache_read_input_tokens: 7, cache_creation_input_tokens: 10, cache_creation: created },
  }
  const cached = { cacheRead: 7, cacheWrite: 10, cacheWriteHour: 4 }
  const both = { ...NONE, ...cached, input: 203_000, output: 4_500 }
  const of = (iterations: unknown, totals: object = message): unknown =>
    reportedBy(undefined, { ...totals, iterations }).tokens
  t.same(of([compaction, message]), both)
  t.same(of([compaction, message], { input_tokens: 203_000, output_tokens: 4_500 }), both, 'once')
  t.same(
    of([compaction], { input_tokens: 0, output_tokens: 0 }),
    { ...NONE, ...cached, input: 180_000, output: 3_500 },
    'a pause after it',
  )
  const served = { ...message, type: 'fallback_message' }
  t.same(of([message, served]), { ...NONE, input: 23_000, output: 1_000 }, 'a step that is not billed')
  for (const none of [null, {}, 'x', [], [null, 1, 'x', [compaction]]])
    t.same(of(none), { ...NONE, input: 23_000, output: 1_000 }, JSON.stringify(none))
  for (const wrong of [-1, 1.5, '4', null, 2 ** 40, {}])
    t.same(of([{ type: 'compaction', input_tokens: wrong, output_tokens: wrong }, message]), {
      ...{ ...NONE, input: 23_000, output: 1_000 },
    })
  const most = { type: 'compaction', input_tokens: REPORTED_TOKENS_MAX }
  t.match(of([most, most, message]), { input: REPORTED_TOKENS_MAX, output: 1_000 })
  const many = Array.from({ length: 50 }, () => compaction)
  t.match(of([...many, message]), { input: 23_000 + 50 * 180_000, output: 1_000 + 50 * 3_500 })
  t.end()
})

t.test('steps of a stream count once, and their output counts once a total is reported', (t) => {
  const placeholder = { type: 'message', input_tokens: 30, output_tokens: 1 }
  const compaction = { type: 'compaction', input_tokens: 500, output_tokens: 50 }
  const begun = { input_tokens: 30, output_tokens: 1, iterations: [compaction, placeholder] }
  t.match(reportedBy(begun).tokens, { input: 530, output: 0 })
  const end = { output_tokens: 9, iterations: [compaction, { ...placeholder, output_tokens: 9 }] }
  t.match(reportedBy(begun, end).tokens, { input: 530, output: 59 })
  t.match(reportedBy({ input_tokens: 30 }, end).tokens, { input: 530, output: 59 })
  const paused = reportedBy({ input_tokens: 0 }, { output_tokens: 0, iterations: [compaction] })
  t.equal(paused.isCredible(true), true)
  t.end()
})

t.test('ignores figures that are not counts', (t) => {
  t.equal(new MessagesUsage().tokens, null)
  for (const figure of [-1, 1.5, '4', null, 2 ** 40, {}]) {
    const usage = new MessagesUsage()
    t.equal(usage.update(json({ input_tokens: figure, output_tokens: figure })), false)
    t.same(usage.tokens, NONE)
  }
  const large = new MessagesUsage()
  t.equal(large.update(json({ output_tokens: 4, more: 'x'.repeat(USAGE_BYTES_MAX) })), false)
  t.equal(large.tokens, null)
  t.equal(reportedBy({ input_tokens: 3 }, { output_tokens: 2 }).isCredible(true), true)
  t.equal(reportedBy({ input_tokens: 3 }, { output_tokens: 0 }).isCredible(true), false)
  t.equal(reportedBy({ input_tokens: 3 }, { output_tokens: 0 }).isCredible(false), true)
  t.equal(reportedBy({ input_tokens: 0 }, { output_tokens: 2 }).isCredible(true), false)
  t.end()
})
