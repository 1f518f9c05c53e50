/** Usage in each dialect where a caller gets more than sums. D24. */
import t from 'tap'
import { messagesUsage } from '../../../../src/dialects/messages/answer.ts'
import { chatUsage } from '../../../../src/dialects/chat/usage.ts'

const TOKENS = { input: 10, cacheRead: 20, cacheWrite: 0, output: 5, reasoning: 0 }
const media = { audio: 3, image: 2, audioRead: 4, audioOutput: 1 }
const reportedBy = (usageOf: typeof chatUsage, more: object): unknown =>
  JSON.parse(usageOf({ usage: { ...TOKENS, ...more }, isByok: false, isEstimated: false }, 0).whole)

t.test('chat usage includes the audio and image tokens of the prompt and the answer, if any', async (t) => {
  t.match(reportedBy(chatUsage, { media }), {
    prompt_tokens: 30,
    prompt_tokens_details: { cached_tokens: 20, audio_tokens: 7, image_tokens: 2 },
    completion_tokens_details: { audio_tokens: 1, image_tokens: undefined },
  })
  t.match(reportedBy(chatUsage, {}), { prompt_tokens_details: { audio_tokens: undefined } })
})

t.test('messages usage includes the cache writes by lifetime, and the thinking tokens', async (t) => {
  t.match(reportedBy(messagesUsage, { cacheWrite: 7, cacheWriteHour: 3, reasoning: 9 }), {
    ...{ input_tokens: 10, cache_creation_input_tokens: 7, output_tokens: 14 },
    cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 3 },
    output_tokens_details: { thinking_tokens: 9 },
  })
  t.match(reportedBy(messagesUsage, {}), { cache_creation: undefined, output_tokens_details: undefined })
})
