/** Streams and answers in the forms of providers that speak OpenAI's chat: what each does otherwise. */

const head = (more: object = {}): object => ({
  id: 'chatcmpl-9',
  object: 'chat.completion.chunk',
  created: 1_795_312_800,
  model: 'm',
  ...more,
})
const one = (delta: object | null, finish: string | null = null, more: object = {}): object => ({
  choices: [{ index: 0, delta, finish_reason: finish, ...more }],
})
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const DONE = '[DONE]'

/** By provider: the data of each event. Each stream says "Hi there", or calls the tool `f` with `{}`. */
export const PROVIDER_STREAMS: Readonly<Record<string, readonly (object | string)[]>> = {
  openai: [
    {
      ...head({ service_tier: 'default', system_fingerprint: null }),
      ...one({ role: 'assistant', content: '', refusal: null }, null, { logprobs: null }),
      usage: null,
      obfuscation: 'Ab1',
    },
    {
      ...head({ service_tier: 'default', system_fingerprint: null }),
      ...one({ content: 'Hi there' }, null, { logprobs: null }),
      usage: null,
      obfuscation: 'x',
    },
    {
      ...head({ service_tier: 'default', system_fingerprint: null }),
      ...one({}, 'stop', { logprobs: null }),
      usage: null,
      obfuscation: '',
    },
    {
      ...head({ service_tier: 'default', system_fingerprint: null }),
      choices: [],
      usage: {
        ...USAGE,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
    },
    DONE,
  ],
  'openai, a tool': [
    {
      ...head(),
      ...one({
        role: 'assistant',
        content: null,
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }],
        refusal: null,
      }),
      usage: null,
    },
    { ...head(), ...one({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }), usage: null },
    { ...head(), ...one({}, 'tool_calls'), usage: null },
    { ...head(), choices: [], usage: USAGE },
    DONE,
  ],
  azure: [
    {
      choices: [],
      created: 0,
      id: '',
      model: '',
      object: '',
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
    },
    { ...head(), ...one({ role: 'assistant', content: '' }, null, { content_filter_results: {} }) },
    {
      ...head(),
      ...one({ content: 'Hi there' }, null, { content_filter_results: { hate: { filtered: false } } }),
    },
    { ...head(), ...one({}, 'stop', { content_filter_results: {} }), usage: USAGE },
    DONE,
  ],
  vllm: [
    {
      ...head(),
      ...one({ role: 'assistant', content: '', reasoning_content: null }, null, { logprobs: null }),
      prompt_token_ids: null,
    },
    {
      ...head(),
      ...one({ content: 'Hi there', reasoning_content: null }, null, { logprobs: null, token_ids: null }),
      usage: USAGE,
    },
    {
      ...head(),
      ...one({ content: '', reasoning_content: null }, 'stop', { logprobs: null, stop_reason: null }),
      usage: USAGE,
    },
    { ...head(), choices: [], usage: USAGE },
    DONE,
  ],
  'vllm, a tool': [
    { ...head(), ...one({ role: 'assistant', content: '', tool_calls: null }) },
    {
      ...head(),
      ...one({
        role: null,
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', index: 0, function: { name: 'f', arguments: null } }],
      }),
    },
    {
      ...head(),
      ...one({
        role: null,
        content: null,
        tool_calls: [{ id: null, type: null, index: 0, function: { name: null, arguments: '{}' } }],
      }),
    },
    { ...head(), ...one({ content: '' }, 'tool_calls') },
    DONE,
  ],
  ollama: [
    { ...head({ system_fingerprint: 'fp_ollama' }), ...one({ role: 'assistant', content: 'Hi' }) },
    { ...head({ system_fingerprint: 'fp_ollama' }), ...one({ role: 'assistant', content: ' there' }) },
    { ...head({ system_fingerprint: 'fp_ollama' }), ...one({ role: 'assistant', content: '' }, 'stop') },
    { ...head(), choices: [], usage: USAGE },
    DONE,
  ],
  'ollama, a tool': [
    {
      ...head(),
      ...one({
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', index: 0, type: 'function', function: { name: 'f', arguments: '{}' } }],
      }),
    },
    { ...head(), ...one({ role: 'assistant', content: '' }, 'tool_calls') },
    DONE,
  ],
  deepseek: [
    {
      ...head({ system_fingerprint: 'fp_1' }),
      ...one({ role: 'assistant', content: null, reasoning_content: '' }, null, { logprobs: null }),
    },
    {
      ...head({ system_fingerprint: 'fp_1' }),
      ...one({ content: null, reasoning_content: 'Hm' }, null, { logprobs: null }),
    },
    {
      ...head({ system_fingerprint: 'fp_1' }),
      ...one({ content: 'Hi there', reasoning_content: null }, null, { logprobs: null }),
    },
    {
      ...head({ system_fingerprint: 'fp_1' }),
      ...one({ content: '', reasoning_content: null }, 'stop', { logprobs: null }),
      usage: { ...USAGE, prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 9 },
    },
    DONE,
  ],
  groq: [
    {
      ...head({ system_fingerprint: 'fp_2' }),
      ...one({ role: 'assistant', content: '' }, null, { logprobs: null }),
      x_groq: { id: 'req_1' },
    },
    { ...head({ system_fingerprint: 'fp_2' }), ...one({ content: 'Hi there' }, null, { logprobs: null }) },
    {
      ...head({ system_fingerprint: 'fp_2' }),
      ...one({}, 'stop', { logprobs: null }),
      x_groq: { id: 'req_1', usage: USAGE },
    },
    { ...head(), choices: [], usage: { ...USAGE, queue_time: 0.1 }, service_tier: null },
    DONE,
  ],
  mistral: [
    { ...head(), ...one({ role: 'assistant', content: '' }) },
    { ...head(), ...one({ content: 'Hi there' }) },
    { ...head(), ...one({ content: '' }, 'stop'), usage: USAGE },
    DONE,
  ],
  'mistral, a model that thinks': [
    { ...head(), ...one({ role: 'assistant', content: '' }) },
    { ...head(), ...one({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'h' }] }] }) },
    {
      ...head(),
      ...one({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'm' }], closed: true },
          { type: 'text', text: 'Hi' },
        ],
      }),
    },
    { ...head(), ...one({ content: ' there' }, 'stop'), usage: USAGE },
    DONE,
  ],
  'mistral, a tool': [
    { ...head(), ...one({ role: 'assistant', content: '' }) },
    {
      ...head(),
      ...one(
        { content: '', tool_calls: [{ id: 'abc', function: { name: 'f', arguments: '{}' }, index: 0 }] },
        'tool_calls',
      ),
      usage: USAGE,
    },
    DONE,
  ],
  moonshot: [
    { ...head(), ...one({ role: 'assistant', content: '' }) },
    { ...head(), ...one({ content: 'Hi there' }) },
    { ...head(), ...one({}, 'stop', { usage: { ...USAGE, cached_tokens: 2 } }), system_fingerprint: 'fpv0' },
    DONE,
  ],
  'google, compatible': [
    {
      choices: [{ delta: { content: 'Hi', role: 'assistant' }, index: 0 }],
      created: 1_795_312_800,
      id: 'g1',
      model: 'm',
      object: 'chat.completion.chunk',
      usage: { ...USAGE, total_tokens: 40 },
    },
    {
      choices: [{ delta: { content: ' there', role: 'assistant' }, finish_reason: 'stop', index: 0 }],
      created: 1_795_312_800,
      id: 'g1',
      model: 'm',
      object: 'chat.completion.chunk',
      usage: { ...USAGE, total_tokens: 40 },
    },
    DONE,
  ],
  'google, compatible, a tool': [
    {
      choices: [
        {
          delta: {
            role: 'assistant',
            tool_calls: [{ function: { arguments: '{}', name: 'f' }, id: 'c1', type: 'function' }],
          },
          finish_reason: 'stop',
          index: 0,
        },
      ],
      created: 1_795_312_800,
      id: 'g1',
      model: 'm',
      object: 'chat.completion.chunk',
    },
    DONE,
  ],
  openrouter: [
    {
      id: 'gen-1',
      provider: 'Other',
      model: 'm',
      object: 'chat.completion.chunk',
      created: 1_795_312_800,
      ...one({ role: 'assistant', content: 'Hi', reasoning: null, reasoning_details: [] }, null, {
        native_finish_reason: null,
        logprobs: null,
      }),
    },
    {
      id: 'gen-1',
      provider: 'Other',
      model: 'm',
      object: 'chat.completion.chunk',
      created: 1_795_312_800,
      ...one({ role: 'assistant', content: ' there' }, 'stop', {
        native_finish_reason: 'stop',
        logprobs: null,
      }),
      system_fingerprint: null,
    },
    {
      id: 'gen-1',
      provider: 'Other',
      model: 'm',
      object: 'chat.completion.chunk',
      created: 1_795_312_800,
      ...one({ role: 'assistant', content: '' }, null, { native_finish_reason: null, logprobs: null }),
      usage: { ...USAGE, cost: 0.1, is_byok: false },
    },
    DONE,
  ],
  'a small server, a tool': [
    {
      ...one({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: {} } }] }, 'tool_calls'),
    },
    DONE,
  ],
  'a small server': [
    { created: 1_795_312_800.5, ...one({ content: 'Hi' }, '') },
    { created: null, choices: [{ delta: { content: ' there' } }] },
    { choices: [{ delta: null, finish_reason: 'stop' }] },
  ],
}

const whole = (message: object, more: object = {}): object => ({
  id: 'chatcmpl-9',
  object: 'chat.completion',
  created: 1_795_312_800,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hi there', ...message }, finish_reason: 'stop' },
  ],
  usage: USAGE,
  ...more,
})

/** By provider: a whole answer. */
export const PROVIDER_ANSWERS: Readonly<Record<string, object>> = {
  openai: whole({ refusal: null, annotations: [] }, { service_tier: 'default', system_fingerprint: null }),
  vllm: whole(
    {
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: [],
      reasoning_content: null,
    },
    { prompt_logprobs: null, kv_transfer_params: null },
  ),
  deepseek: whole({ reasoning_content: 'Hm' }, { system_fingerprint: 'fp_1' }),
  mistral: whole({ tool_calls: null, prefix: false }),
  'mistral, a model that thinks': whole({
    tool_calls: null,
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
      { type: 'text', text: 'Hi' },
      { type: 'reference', reference_ids: [1] },
      { type: 'text', text: ' there' },
    ],
  }),
  'mistral, a tool': whole({
    content: '',
    tool_calls: [{ id: 'abc', function: { name: 'f', arguments: '{}' }, index: 0 }],
  }),
  openrouter: whole(
    { refusal: null, reasoning: null, reasoning_details: null },
    { provider: 'Other', system_fingerprint: null },
  ),
  'a small server, a tool': whole({
    content: null,
    tool_calls: [{ id: 'c', function: { name: 'f', arguments: { a: 1 } } }],
  }),
  'a small server': { choices: [{ message: { content: 'Hi there' } }], created: 1.5, usage: null },
}
