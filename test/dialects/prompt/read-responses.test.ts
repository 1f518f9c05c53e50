import t from 'tap'
import { itemTurns, read } from '../../support/inference/bodies/translated.ts'
import { statedText } from '../../support/inference/prompts.ts'

const found = (more: Readonly<Record<string, unknown>>): readonly string[] =>
  read('responses', more).others.map(({ name, path }) => `${name} ${path}`)

t.test('consecutive items of the model are one turn', (t) => {
  const turns = itemTurns(
    { role: 'user', content: 'a' },
    {
      ...{ type: 'reasoning', id: 'rs_1', status: 'completed', encrypted_content: 'E' },
      summary: [
        { type: 'summary_text', text: 'b' },
        { type: 'summary_text', text: 'c' },
      ],
    },
    {
      type: 'message',
      role: 'assistant',
      id: 'msg_1',
      status: 'completed',
      content: [{ type: 'output_text', text: 'd' }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'f', arguments: '' },
    { type: 'function_call', call_id: 'y', name: 'f', arguments: '{"a":{"b":1}}' },
    { type: 'reasoning', summary: [], encrypted_content: 'sl1.google-gemini-v1+call.G' },
    { type: 'function_call_output', call_id: 'x', output: [{ type: 'input_text', text: 'X' }] },
    { type: 'function_call_output', call_id: 'y', output: '' },
  )
  const call = { kind: 'call', name: 'f', cache: null, signature: null }
  const tool = { role: 'tool', isError: false, cache: null }
  t.same(turns, [
    { role: 'user', parts: [statedText('a')] },
    {
      role: 'assistant',
      parts: [
        {
          ...{
            kind: 'reasoning',
            text: 'b\n\nc',
            isSummary: true,
            id: 'rs_1',
            isRedacted: false,
            cache: null,
          },
          signature: { format: 'openai-responses-v1', data: 'E' },
        },
        statedText('d'),
        { ...call, id: 'x', arguments: '{}' },
        {
          ...{ ...call, id: 'y', arguments: '{"a":{"b":1}}' },
          signature: { format: 'google-gemini-v1', data: 'G' },
        },
      ],
    },
    { ...tool, callId: 'x', parts: [statedText('X')] },
    { ...tool, callId: 'y', parts: [] },
  ])
  t.end()
})

t.test('instructions come before the input, which may be a text or missing', (t) => {
  const turnsOf = (more: object) => read('responses', { input: null, ...more }).turns
  const system = { role: 'system', parts: [statedText('S')] }
  t.same(turnsOf({ instructions: 'S', input: 'a' }), [system, { role: 'user', parts: [statedText('a')] }])
  t.same(turnsOf({ instructions: 'S', input: [{ role: 'developer', content: 'S' }] }), [system, system])
  t.same(turnsOf({ instructions: '' }), [])
  t.end()
})

t.test('a reference to reasoning is left out, and other references are refused', (t) => {
  const input = [
    { type: 'item_reference', id: 'rs_1' },
    { type: 'item_reference', id: 'msg_1' },
    { type: 'reasoning', summary: [] },
    { type: 'compaction', encrypted_content: 'x' },
  ]
  t.same(found({ input }), ['input /input/1', 'item_reference /input/0'])
  t.same(read('responses', { input }).turns, [])
  t.end()
})

t.test('reasoning of open models has a text, and a signature may have its format next to it', (t) => {
  const [turn] = itemTurns(
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'a' }] },
    { type: 'reasoning', summary: [], signature: 'S', format: 'anthropic-claude-v1' },
    { type: 'reasoning', summary: [], encrypted_content: 'sl1.anthropic-claude-v1+redacted.R' },
  )
  t.match(turn?.parts, [
    { text: 'a', isSummary: false, signature: null },
    { text: '', signature: { format: 'anthropic-claude-v1', data: 'S' } },
    { isRedacted: true, signature: { format: 'anthropic-claude-v1', data: 'R' } },
  ])
  t.end()
})

t.test('finds members that the common form does not carry, at every depth', (t) => {
  const more = {
    ...{ background: true, previous_response_id: 'r', store: true, truncation: 'auto', x_new: 1 },
    ...{ text: { x_text: 1, format: { type: 'x_format' } }, reasoning: { context: 'all_turns' } },
    ...{ include: ['message.output_text.logprobs', 'x.y'], tool_choice: { type: 'mcp' } },
    tools: [
      { type: 'web_search', external_web_access: false },
      { type: 'web_search', external_web_access: true },
      { type: 'web_search' },
      { type: 'function', name: 'f', x_tool: 1 },
    ],
    input: [
      {
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'a', annotations: [{}] }],
      },
      { role: 'user', content: [{ type: 'input_audio' }, { type: 'input_file' }] },
      { type: 'custom_tool_call', call_id: 'x' },
    ],
  }
  t.same(
    [...found(more)].sort(),
    [
      ...['annotations /input/0/content/0/annotations', 'background /background'],
      ...['include /include/1', 'include.logprobs /include/0', 'input /input/2'],
      ...['input.content /input/1/content/0', 'phase /input/0/phase'],
      ...['previous_response_id /previous_response_id', 'reasoning.context /reasoning/context'],
      ...['store /store', 'text.format /text/format', 'text.x_text /text/x_text', 'tool_choice /tool_choice'],
      ...['tools /tools/2', 'truncation /truncation', 'web_search /tools/0', 'x_new /x_new'],
      'x_tool /tools/3/x_tool',
    ].sort(),
  )
  t.end()
})

t.test('members that clients send by default are not listed as unknown', (t) => {
  const defaults = {
    ...{ store: false, service_tier: 'auto', stream: false, truncation: 'disabled', background: false },
    ...{
      metadata: {},
      top_logprobs: 0,
      include: ['reasoning.encrypted_content'],
      text: { format: { type: 'text' } },
    },
  }
  t.same(found(defaults), [])
  t.match(read('responses', defaults).reasoning, { isEncryptedAsked: true, isOn: null })
  t.equal(read('responses', { reasoning: null, include: [] }).reasoning, null)
  t.end()
})

t.test('leaves out tools that only Codex runs, with the earlier searches', (t) => {
  const tools = [
    { type: 'tool_search', execution: 'client', description: 'Finds', parameters: {} },
    { type: 'tool_search' },
  ]
  t.same(found({ tools }), ['tools /tools/1', 'tool_search /tools/0'])
  const input = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } },
    { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} },
    { role: 'user', content: 'b' },
  ]
  t.same(found({ input }), ['web_search /input/0', 'tool_search /input/1'])
  t.same(itemTurns(...input), [{ role: 'user', parts: [statedText('b')] }])
  t.end()
})

t.test('tools that the conversation adds are declared with the tools of the request', (t) => {
  const tool = (name: string) => ({ type: 'function', name, parameters: {} })
  const { tools, others } = read('responses', {
    tools: [tool('a')],
    input: [
      {
        ...{ type: 'additional_tools', id: 'at_1', role: 'developer' },
        tools: [{ type: 'namespace', name: 'n', description: '', tools: [tool('b')] }],
      },
      { type: 'tool_search_output', call_id: 'c', tools: [tool('d')] },
      { role: 'user', content: 'b' },
    ],
  })
  t.same(
    tools.map(({ name }) => name),
    ['a', 'n__b', 'd'],
  )
  t.match(others, [{ name: 'tool_search', path: '/input/1' }])
  t.end()
})

t.test('a tool that is declared twice is declared once, in its last form', (t) => {
  const tool = (name: string, description: string) => ({
    type: 'function',
    name,
    description,
    parameters: {},
  })
  const within = (...tools: readonly object[]) => ({ type: 'namespace', name: 'n', description: '', tools })
  const { tools } = read('responses', {
    tools: [tool('a', 'late'), tool('b', ''), within(tool('c', 'first'))],
    input: [
      { type: 'additional_tools', role: 'developer', tools: [within(tool('c', 'second'))] },
      { type: 'tool_search_output', call_id: 'd', tools: [tool('a', 'whole')] },
      { role: 'user', content: 'e' },
    ],
  })
  t.same(
    tools.map(({ name, description }) => [name, description]),
    [
      ['b', ''],
      ['n__c', 'second'],
      ['a', 'whole'],
    ],
  )
  t.end()
})

t.test('audio and videos of a user are carried, and those in tool results are not', (t) => {
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }
  const film = { type: 'input_video', video_url: 'https://x.example/a.mp4' }
  const [user] = itemTurns({ role: 'user', content: [sound, film] })
  t.match(user, {
    parts: [
      { kind: 'audio', data: 'AAAA', format: 'mp3', path: '/input/0/content/0' },
      { kind: 'video', media: { kind: 'url', url: film.video_url }, path: '/input/0/content/1' },
    ],
  })
  const output = { type: 'function_call_output', call_id: 'x', output: [sound] }
  t.same(found({ input: [output] }), ['input.content /input/0/output'])
  t.end()
})
