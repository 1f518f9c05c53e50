import t from 'tap'
import { messageTurns, read } from '../../support/inference/bodies/translated.ts'
import { statedText } from '../../support/inference/prompts.ts'

const found = (more: Readonly<Record<string, unknown>>): readonly string[] =>
  read('messages', more).others.map(({ name, path }) => `${name} ${path}`)
const user = (...content: readonly unknown[]) => ({ role: 'user', content })

t.test('tool results are separate turns, in order, and adjacent turns of the same role are merged', (t) => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } }
  const turns = messageTurns(
    user({ type: 'text', text: 'a' }),
    user({ type: 'text', text: '' }, { type: 'text', text: 'b' }),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'f', input: { a: { b: [null] } } }] },
    user(
      {
        type: 'tool_result',
        tool_use_id: 'x',
        content: 'X',
        is_error: true,
        cache_control: { type: 'ephemeral' },
      },
      { type: 'tool_result', tool_use_id: 'y', content: [image] },
      { type: 'tool_result', tool_use_id: 'z' },
      { type: 'text', text: 'c' },
    ),
    { role: 'assistant', content: '' },
  )
  const tool = { role: 'tool', isError: false, cache: null, parts: [] }
  t.same(turns, [
    { role: 'user', parts: [statedText('a'), statedText('b')] },
    {
      role: 'assistant',
      parts: [
        { kind: 'call', id: 'x', name: 'f', arguments: '{"a":{"b":[null]}}', signature: null, cache: null },
      ],
    },
    { ...tool, callId: 'x', isError: true, cache: { ttl: null }, parts: [statedText('X')] },
    {
      ...{ ...tool, callId: 'y' },
      parts: [
        {
          ...{ kind: 'image', media: { kind: 'url', url: 'https://x.example/a.png' }, detail: null },
          ...{ cache: null, path: '/messages/3/content/1/content/0' },
        },
      ],
    },
    { ...tool, callId: 'z' },
    { role: 'user', parts: [statedText('c')] },
  ])
  t.end()
})

t.test('signatures have the format of Claude, or the format that their carrier names', (t) => {
  const [, turn] = messageTurns(user({ type: 'text', text: 'q' }), {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'a', signature: 'S' },
      { type: 'thinking', thinking: '', signature: 'sl1.openai-responses-v1.E.x' },
      { type: 'redacted_thinking', data: 'R' },
      { type: 'thinking', thinking: 'b', signature: '' },
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'tool_use', id: 'x', name: 'f', input: {} },
      { type: 'thinking', thinking: '', signature: 'sl1.google-gemini-v1+call.G' },
      { type: 'tool_use', id: 'y', name: 'f', input: null },
    ],
  })
  t.match(turn?.parts, [
    { text: 'a', signature: { format: 'anthropic-claude-v1', data: 'S' }, isRedacted: false },
    { text: '', signature: { format: 'openai-responses-v1', data: 'E.x' }, isRedacted: false },
    { text: '', signature: { format: 'anthropic-claude-v1', data: 'R' }, isRedacted: true },
    { text: 'b', signature: null },
    { kind: 'call', id: 'x', signature: { format: 'google-gemini-v1', data: 'G' } },
    { kind: 'call', id: 'y', arguments: '{}', signature: null },
  ])
  t.equal(turn?.parts.length, 6)
  t.end()
})

t.test('documents become files, and documents with content blocks become the parts in them', (t) => {
  const [turn] = messageTurns(
    user(
      { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'ü' } },
      {
        ...{ type: 'document', cache_control: { type: 'ephemeral' } },
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ),
  )
  t.match(turn?.parts, [
    { kind: 'file', filename: 'T', media: { kind: 'base64', mimeType: 'text/plain', data: 'w7w=' } },
    statedText('a'),
    { ...statedText('b'), cache: { ttl: null } },
    { kind: 'image', media: { kind: 'file_id', id: 'file_1' } },
  ])
  t.end()
})

t.test('reads the members for reasoning, tools and formats', (t) => {
  const prompt = read('messages', {
    ...{ thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' }, stop_sequences: ['x'] },
    ...{ output_config: { effort: 'high', format: { type: 'json_schema', schema: { a: 1 } } } },
    ...{ tool_choice: { type: 'any', disable_parallel_tool_use: true }, metadata: { user_id: 'u' } },
    tools: [{ name: 'f', input_schema: { b: 1 }, strict: true }],
  })
  t.match(prompt, {
    ...{
      isParallel: false,
      toolChoice: { kind: 'required' },
      stops: ['x'],
      tuning: { user: 'u' },
      others: [],
    },
    tools: [{ name: 'f', schema: { b: 1 }, isStrict: true }],
    format: { kind: 'json_schema', name: 'output', schema: { a: 1 } },
    reasoning: { effort: 'high', budget: 2_000, isOn: true, isHidden: true },
  })
  t.match(read('messages', { thinking: { type: 'disabled' } }).reasoning, { isOn: false, effort: null })
  t.match(read('messages', { output_config: { effort: 'low' } }).reasoning, { isOn: null, effort: 'low' })
  t.equal(read('messages', { thinking: null, output_config: {} }).reasoning, null)
  t.match(read('messages', { output_format: { type: 'json_schema', schema: {} } }).format, {
    kind: 'json_schema',
  })
  t.end()
})

t.test('finds members that the common form does not carry, at every depth', (t) => {
  const more = {
    ...{ container: 'c', mcp_servers: [{}], context_management: { edits: [{}] }, speed: 'fast', x_new: 1 },
    ...{ inference_geo: 'us', metadata: { user_id: 'u', x_meta: 1 }, output_config: { x_output: 1 } },
    ...{ thinking: { type: 'adaptive', x_think: 1 }, tool_choice: { type: 'x_choice' } },
    tools: [
      { type: 'web_search_20250305', name: 'web_search' },
      { name: 'f', input_schema: {}, x_tool: 1 },
    ],
    system: [{ type: 'text', text: 'a', citations: [{}] }],
    messages: [
      user(
        { type: 'search_result', content: [] },
        { type: 'document', source: { type: 'url', url: 'https://x.example' }, citations: { enabled: true } },
        { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'tool_reference' }] },
      ),
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 's' }] },
    ],
  }
  t.same(
    [...found(more)].sort(),
    [
      ...['container /container', 'context_management /context_management'],
      ...['document.citations /messages/0/content/1/citations', 'inference_geo /inference_geo'],
      ...['mcp_servers /mcp_servers', 'messages.content /messages/0/content/0'],
      ...[
        'metadata.x_meta /metadata/x_meta',
        'output_config.x_output /output_config/x_output',
        'speed /speed',
      ],
      ...['thinking.x_think /thinking/x_think', 'tool_choice /tool_choice', 'tools /tools/0'],
      ...['x_new /x_new', 'x_tool /tools/1/x_tool', 'citations /system/0/citations'],
    ].sort(),
  )
  t.end()
})

t.test('a member with its default is not listed as unknown', (t) => {
  const tool = {
    name: 'f',
    input_schema: {},
    defer_loading: false,
    eager_input_streaming: false,
    input_examples: [],
  }
  t.same(
    found({ tools: [tool], inference_geo: 'global', mcp_servers: [], fallbacks: [], container: null }),
    [],
  )
  t.end()
})
