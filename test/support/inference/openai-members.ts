/** The members of a request of chat that OpenAI's published client has types for; others are refused. */

export const CHAT_MEMBERS: ReadonlySet<string> = new Set([
  ...['messages', 'model', 'audio', 'frequency_penalty', 'function_call', 'functions', 'logit_bias'],
  ...['logprobs', 'max_completion_tokens', 'max_tokens', 'metadata', 'modalities', 'moderation', 'n'],
  ...['parallel_tool_calls', 'prediction', 'presence_penalty', 'prompt_cache_key', 'prompt_cache_options'],
  ...['prompt_cache_retention', 'reasoning_effort', 'response_format', 'safety_identifier', 'seed'],
  ...['service_tier', 'stop', 'store', 'stream', 'stream_options', 'temperature', 'tool_choice', 'tools'],
  ...['top_logprobs', 'top_p', 'user', 'verbosity', 'web_search_options'],
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
