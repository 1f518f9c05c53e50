/** The members of requests that OpenAI's published client has types for; others are refused. */

export const CHAT_MEMBERS: ReadonlySet<string> = new Set([
  ...['messages', 'model', 'audio', 'frequency_penalty', 'function_call', 'functions', 'logit_bias'],
  ...['logprobs', 'max_completion_tokens', 'max_tokens', 'metadata', 'modalities', 'moderation', 'n'],
  ...['parallel_tool_calls', 'prediction', 'presence_penalty', 'prompt_cache_key', 'prompt_cache_options'],
  ...['prompt_cache_retention', 'reasoning_effort', 'response_format', 'safety_identifier', 'seed'],
  ...['service_tier', 'stop', 'store', 'stream', 'stream_options', 'temperature', 'tool_choice', 'tools'],
  ...['top_logprobs', 'top_p', 'user', 'verbosity', 'web_search_options'],
])

/** Members of a request of responses, likewise. */
export const RESPONSES_MEMBERS: ReadonlySet<string> = new Set([
  ...['access_programs', 'background', 'context_management', 'conversation', 'image', 'include', 'input'],
  ...['instructions', 'max_output_tokens', 'max_tool_calls', 'metadata', 'model', 'moderation'],
  ...['parallel_tool_calls', 'previous_response_id', 'prompt', 'prompt_cache_key', 'prompt_cache_options'],
  ...['prompt_cache_retention', 'reasoning', 'safety_identifier', 'service_tier', 'store', 'stream'],
  ...['stream_options', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation'],
  'user',
])

const NAMED = ['role', 'content', 'name']

/** By role. */
export const MESSAGE_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(NAMED),
  developer: new Set(NAMED),
  user: new Set(NAMED),
  assistant: new Set([...NAMED, 'audio', 'function_call', 'refusal', 'tool_calls']),
  tool: new Set(['role', 'content', 'tool_call_id']),
  function: new Set(NAMED),
}
