import t from 'tap'
import { USAGE_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { chatUsageOf } from '../../../src/dialects/chat/usage.ts'
import { REPORTED_SEARCHES_MAX } from '../../../src/dialects/usage.ts'

const logged = (usage: unknown, hasOutput = true): readonly number[] | null => {
  const found = chatUsageOf(Buffer.from(JSON.stringify(usage)), hasOutput)
  if (found === null) return null
  return [found.input, found.cacheRead, found.cacheWrite, found.output, found.reasoning]
}

t.test('figures of providers are sorted into buckets that do not overlap', async (t) => {
  const prompt = { prompt_tokens: 100, completion_tokens: 40 }
  const reasoning = (count: number | null): object => ({
    completion_tokens_details: { reasoning_tokens: count },
  })
  t.same(logged(prompt), [100, 0, 0, 40, 0])
  t.same(logged({ ...prompt, total_tokens: 140, ...reasoning(30) }), [100, 0, 0, 10, 30], 'OpenAI')
  t.same(
    logged({ ...prompt, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 } }),
    [30, 60, 10, 40, 0],
  )
  t.same(logged({ ...prompt, prompt_tokens_details: null, ...reasoning(null) }), [100, 0, 0, 40, 0])
  t.same(
    logged({ ...prompt, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }),
    [36, 64, 0, 40, 0],
    'DeepSeek',
  )
  t.same(logged({ ...prompt, cached_tokens: 50 }), [50, 50, 0, 40, 0], 'Moonshot')
  t.same(logged({ ...prompt, total_tokens: 230, ...reasoning(90) }), [100, 0, 0, 40, 90], 'xAI')
  t.same(logged({ ...prompt, total_tokens: 230 }), [100, 0, 0, 40, 90], 'Google')
  t.same(
    logged({ prompt_tokens: 21, completion_tokens: 0, total_tokens: 81, ...reasoning(60) }),
    [21, 0, 0, 0, 60],
  )
  t.same(
    logged({ ...prompt, total_tokens: 999, ...reasoning(30) }),
    [100, 0, 0, 10, 30],
    'a total of its own',
  )
  t.same(logged({ ...prompt, total_tokens: 1 }), [100, 0, 0, 40, 0])
})

t.test('parts that exceed their whole are limited to the whole', async (t) => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  t.same(
    logged({ ...usage, prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 99 } }),
    [0, 10, 0, 5, 0],
  )
  t.same(logged({ ...usage, completion_tokens_details: { reasoning_tokens: 9 } }), [10, 0, 0, 0, 5])
})

t.test(
  'audio and pictures are parts of the uncached input, and of the output without reasoning',
  async (t) => {
    const media = (prompt: object, answer: object): unknown => {
      const counts = { prompt_tokens: 100, completion_tokens: 40 }
      const usage = { ...counts, prompt_tokens_details: prompt, completion_tokens_details: answer }
      return chatUsageOf(Buffer.from(JSON.stringify(usage)), true)?.media
    }
    t.equal(media({}, {}), undefined)
    t.equal(media({ audio_tokens: 0, image_tokens: -1 }, { audio_tokens: '4' }), undefined)
    t.same(media({ audio_tokens: 30, image_tokens: 20 }, { audio_tokens: 4, image_tokens: 5 }), {
      ...{ audio: 30, image: 20, audioRead: 0, audioOutput: 4 },
    })
    t.same(
      media(
        { audio_tokens: 999, image_tokens: 20, cached_tokens: 60 },
        { audio_tokens: 999, reasoning_tokens: 30 },
      ),
      {
        ...{ audio: 40, image: 0, audioRead: 0, audioOutput: 10 },
      },
    )
  },
)

t.test('reads the number of web searches from usage in the form of OpenRouter', async (t) => {
  const searches = (server_tool_use: unknown): unknown =>
    chatUsageOf(
      Buffer.from(JSON.stringify({ prompt_tokens: 1, completion_tokens: 1, server_tool_use })),
      true,
    )?.searches
  t.equal(searches({ web_search_requests: 3 }), 3)
  t.equal(searches({ web_search_requests: 10 ** 9 }), REPORTED_SEARCHES_MAX)
  for (const none of [null, undefined, {}, [], { web_search_requests: -1 }, { web_search_requests: '3' }])
    t.equal(searches(none), undefined, JSON.stringify(none))
})

t.test('figures that are not counts are treated as missing', async (t) => {
  for (const figure of [null, '3', -1, 1.5, 2 ** 40, {}, [], true]) {
    t.equal(logged({ prompt_tokens: figure, completion_tokens: 1 }), null)
    t.equal(logged({ prompt_tokens: 1, completion_tokens: figure }), null)
    t.same(
      logged({ prompt_tokens: 1, completion_tokens: 1, cached_tokens: figure, total_tokens: figure }),
      [1, 0, 0, 1, 0],
    )
  }
  t.equal(logged({}), null)
  t.equal(logged({ prompt_tokens: 1, completion_tokens: 0 }), null)
  t.same(logged({ prompt_tokens: 1, completion_tokens: 0 }, false), [1, 0, 0, 0, 0])
  t.equal(logged({ prompt_tokens: 1, completion_tokens: 1, more: 'x'.repeat(USAGE_BYTES_MAX) }), null)
})
