/** Wordings from public reports of what providers say where another model may take the input, and where not. */
import t from 'tap'
import { modelRefusal } from '../../../src/server/upstream/refusals.ts'

const TOO_LONG = [
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
  "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens.",
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 290000 tokens.',
  'prompt is too long: 209353 tokens > 199999 maximum',
  'input length and `max_tokens` exceed context limit: 90402 + 116650 > 204648, decrease input length',
  'Input is too long for requested model.',
  'Input Tokens Exceeded: Number of input tokens exceeds maximum length.',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).',
  'The input token count exceeds the maximum number of tokens allowed 1048576.',
  'Unable to submit request because the input token count is 32800 but the model only supports up to 32768.',
  "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
  "Requested token count exceeds the model's maximum context length of 4096 tokens.",
  'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
  'Input prompt (5000 tokens) is too long and exceeds limit of 4096',
  'the input length exceeds the context length',
  'prompt too long; exceeded max context length by 120 tokens',
  'Trying to keep the first 5000 tokens when context overflows. However, the model is loaded with context length ' +
    'of only 4096 tokens, which is not enough.',
  'The number of tokens to keep from the initial prompt is greater than the context length.',
  'the request exceeds the available context size, try increasing it',
  'request (5000 tokens) exceeds the available context size (4096 tokens)',
  'Requested tokens (5000) exceed context window of 4096',
  'Context size has been exceeded.',
  'Prompt has 32769 tokens, but the configured context size is 32768 tokens',
  'Prompt tokens (5000) exceeds context size (4096)',
  'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
  'Prompt length (9000) exceeds maximum input length (8192).',
  'Invalid request: Your request exceeded model token limit: 262144 (requested: 566084)',
  'invalid params, context window exceeds limit (2013)',
  '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
  'Prompt exceeds max length',
  'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
  'prompt token count of 128001 exceeds the limit of 128000',
  'tokens in request more than max tokens allowed',
  'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.',
  'Too many input tokens: 5000',
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 and 100',
  'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
  'The total length of all messages is too long.',
]

const OTHERWISE = [
  'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
  'max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for this model',
  'The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower maximum tokens.',
  '`max_tokens` must be less than or equal to `8192`, the maximum value is less than the `context_window`',
  'Range of max_tokens should be [1, 8192]',
  '`max_tokens` must be greater than `thinking.budget_tokens`.',
  "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576.",
  "Invalid 'stop': array too long. Expected an array with maximum length 4.",
  'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50000. The input or output ' +
    'tokens must be reduced.',
  'This request would exceed the rate limit for your organization of 20,000 input tokens per minute. ' +
    'Please reduce the length of the prompt or the maximum tokens requested.',
  'You exceeded your current quota: the input token count exceeds the free tier of tokens per day.',
  'Too many tokens, please wait before trying again.',
  'Too many tokens per day, please wait before trying again.',
  'messages: text content blocks must be non-empty',
  'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  'image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
  'Tool name is too long: at most 64 characters.',
]

t.test('a context that is too long is recognized in the wording of each provider', async (t) => {
  for (const text of TOO_LONG) t.equal(modelRefusal([], text), 'context', text)
})

t.test('output maximums and rate limits do not count as a context that is too long', async (t) => {
  for (const text of OTHERWISE) t.equal(modelRefusal([], text), null, text)
})

t.test('the error code of the provider takes precedence over its text', async (t) => {
  t.equal(modelRefusal([400, 'context_length_exceeded'], 'x'), 'context')
  t.equal(modelRefusal(['content_filter'], 'prompt is too long'), 'moderation')
})
