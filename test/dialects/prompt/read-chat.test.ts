import t from 'tap'
import { chatTurns, read } from '../../support/inference/bodies/translated.ts'
import { statedText } from '../../support/inference/prompts.ts'

const namesOf = (more: Readonly<Record<string, unknown>>): readonly string[] =>
  read('chat', more).others.map(({ name }) => name)
const pathsOf = (more: Readonly<Record<string, unknown>>): readonly string[] =>
  read('chat', more).others.map(({ path }) => path)
const call = (id: string, json: unknown) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: json },
})

t.test('calls keep their arguments as written, and empty arguments become an empty object', (t) => {
  const deep = '{"a":{"b":{"c":"ü\\u0000"}}}'
  const [turn] = chatTurns({
    role: 'assistant',
    content: '',
    tool_calls: [call('a', ''), call('b', deep), call('c', null), call('d', { x: 1 }), call('e', '{"cut')],
  })
  t.same(
    turn?.parts.map((part) => part.kind === 'call' && part.arguments),
    ['{}', deep, '{}', '{"x":1}', '{"cut'],
  )
  t.end()
})

t.test('ignores nulls and empty texts', (t) => {
  const turns = chatTurns(
    {
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: null,
      reasoning: '',
      reasoning_details: null,
    },
    { role: 'user', content: '' },
    { role: 'user', content: [{ type: 'text', text: '', cache_control: null }] },
    { role: 'tool', tool_call_id: 'x', content: [] },
  )
  t.same(turns, [
    { role: 'assistant', parts: [] },
    { role: 'user', parts: [] },
    { role: 'user', parts: [] },
    { role: 'tool', callId: 'x', parts: [], isError: false, cache: null },
  ])
  const nulls = [
    'max_tokens',
    'stop',
    'seed',
    'tools',
    'tool_choice',
    'reasoning',
    'response_format',
    'x_new',
  ]
  t.same(namesOf(Object.fromEntries(nulls.map((name) => [name, null]))), [])
  t.end()
})

t.test('reads pictures and files as base64, by URL and by id, each with its path', (t) => {
  const [turn] = chatTurns({
    role: 'user',
    content: [
      { type: 'image_url', image_url: { url: 'DATA:image/PNG;x=y;base64,AA==', detail: 'auto' } },
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,%3Csvg%3E', detail: 'high' } },
      { type: 'file', file: { file_data: 'JVBE', filename: 'a.pdf' } },
      { type: 'file', file: { file_data: 'https://x.example/a.pdf' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'input_video', video_url: { url: 'https://x.example/a.mp4' } },
    ],
  })
  const path = (nth: number): object => ({ path: `/messages/0/content/${nth}`, cache: null })
  t.same(turn?.parts, [
    {
      kind: 'image',
      media: { kind: 'base64', mimeType: 'image/png', data: 'AA==' },
      detail: null,
      ...path(0),
    },
    {
      kind: 'image',
      media: { kind: 'url', url: 'data:image/svg+xml,%3Csvg%3E' },
      detail: 'high',
      ...path(1),
    },
    {
      ...{ kind: 'file', media: { kind: 'base64', mimeType: 'application/pdf', data: 'JVBE' } },
      ...{ filename: 'a.pdf', ...path(2) },
    },
    { kind: 'file', media: { kind: 'url', url: 'https://x.example/a.pdf' }, filename: null, ...path(3) },
    { kind: 'file', media: { kind: 'file_id', id: 'file-1' }, filename: null, ...path(4) },
    { kind: 'video', media: { kind: 'url', url: 'https://x.example/a.mp4' }, ...path(5) },
  ])
  t.end()
})

t.test('reads cache marks on parts, on messages and on tools', (t) => {
  const cache_control = { type: 'ephemeral', ttl: '1h' }
  const prompt = read('chat', {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: 'b', cache_control },
      { role: 'tool', tool_call_id: 'x', content: 'c', cache_control },
      { role: 'user', content: [{ type: 'text', text: 'd', prompt_cache_breakpoint: {} }] },
      { role: 'user', content: '', cache_control },
    ],
    tools: [{ type: 'function', function: { name: 'f' }, cache_control }],
    cache_control,
  })
  const hour = { ttl: '1h' }
  t.same(prompt.turns.slice(0, 4), [
    { role: 'system', parts: [{ ...statedText('a'), cache: { ttl: null } }] },
    { role: 'user', parts: [{ ...statedText('b'), cache: hour }] },
    { role: 'tool', callId: 'x', parts: [statedText('c')], isError: false, cache: hour },
    { role: 'user', parts: [{ ...statedText('d'), cache: { ttl: null } }] },
  ])
  t.same([prompt.tools[0]?.cache, prompt.cache], [hour, hour])
  t.same(prompt.others, [{ name: 'cache_control', path: '/messages/4/cache_control' }])
  t.end()
})

t.test('finds members that the common form does not carry, at every depth', (t) => {
  const found = read('chat', {
    x_new: 1,
    n: 2,
    reasoning: { effort: 'low', mode: 'pro' },
    stream_options: { include_usage: true, include_obfuscation: false },
    tool_choice: { type: 'allowed_tools' },
    tools: [
      { type: 'custom', custom: {} },
      { type: 'function', function: { name: 'f', x_deep: 1 }, x_tool: 1 },
    ],
    messages: [
      { role: 'user', name: 'Ann', content: [{ type: 'text', text: 'a', x_part: 1 }, { type: 'x_type' }] },
      {
        ...{ role: 'assistant', audio: { id: 'a' }, images: [{}], annotations: [] },
        tool_calls: [
          { id: 'a', type: 'custom' },
          { ...call('b', ''), x_call: 1 },
        ],
      },
      { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://x.example', x_url: 1 } }] },
    ],
  }).others.map(({ name, path }) => `${name} ${path}`)
  t.same(found, [
    ...['n /n', 'messages.content /messages/0/content/1', 'messages.audio /messages/1/audio'],
    ...['messages.tool_calls /messages/1/tool_calls/0', 'tools /tools/0', 'tool_choice /tool_choice'],
    ...['x_new /x_new', 'stream_options.include_obfuscation /stream_options/include_obfuscation'],
    ...['name /messages/0/name', 'x_part /messages/0/content/0/x_part', 'images /messages/1/images'],
    ...['x_call /messages/1/tool_calls/1/x_call', 'x_url /messages/2/content/0/image_url/x_url'],
    ...['x_tool /tools/1/x_tool', 'x_deep /tools/1/function/x_deep', 'reasoning.mode /reasoning/mode'],
  ])
  t.end()
})

t.test('unknown member names are made safe for a header, and names beyond the maximum become "*"', (t) => {
  t.same(namesOf({ 'a\r\nx: y': 1, 'ü,b': 1, ['z'.repeat(99)]: 1 }), ['a__x__y', '__b', 'z'.repeat(64)])
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, nth) => [`x_${nth}`, nth]))
  const names = namesOf({ ...many, n: 2 })
  t.equal(names.length, 66, 'with what is refused, and one for the rest')
  t.same([names[0], names.at(-1)], ['n', '*'])
  t.same(namesOf({ __proto__: 1, ['constructor']: 1, toString: 1 }), ['constructor', 'toString'])
  t.end()
})

t.test('values that change nothing, and members for Sluice, are not listed as unknown members', (t) => {
  const defaults = {
    ...{ n: 1, logprobs: false, top_logprobs: 0, modalities: ['text'], store: false, functions: [] },
    ...{ models: ['x'], provider: {}, preset: 'p', transforms: ['t'], usage: { include: true }, trace: {} },
    ...{ speed: 'standard', image_config: {}, web_search_options: false, fallbacks: [] },
    stream_options: { include_usage: false, include_obfuscation: true },
  }
  t.same(namesOf(defaults), [])
  t.same(pathsOf({ modalities: ['text', 'audio'], logprobs: true }), ['/modalities', '/logprobs'])
  t.end()
})

t.test('a tuning member of another type is listed as unknown instead of carried', (t) => {
  const prompt = read('chat', {
    user: 'u',
    prompt_cache_key: 5,
    service_tier: {},
    verbosity: 'low',
    logit_bias: 1,
  })
  t.match(prompt.tuning, { user: 'u', cacheKey: null, serviceTier: null, verbosity: 'low', logitBias: null })
  t.same(prompt.others.map(({ name }) => name).sort(), ['logit_bias', 'prompt_cache_key', 'service_tier'])
  t.end()
})

t.test('a tool can have a cache mark under either name', (t) => {
  const cacheOf = (more: object) => {
    const [tool] = read('chat', { tools: [{ type: 'function', function: { name: 'f' }, ...more }] }).tools
    return tool?.cache
  }
  t.same(cacheOf({ cache_control: { type: 'ephemeral' } }), { ttl: null })
  t.same(cacheOf({ prompt_cache_breakpoint: { type: 'ephemeral' } }), { ttl: null })
  t.equal(cacheOf({}), null)
  t.end()
})
