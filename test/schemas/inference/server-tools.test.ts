/** Tools that a provider runs in a call: the bounds of their uses, and the paths of those without a bound. */
import t from 'tap'
import type { ServerTools } from '../../../src/schemas/inference/server-tools.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'

const INPUTS: Readonly<Record<Dialect, object>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
}

function toolsOf(dialect: Dialect, body: object): ServerTools | null {
  const all = JSON.stringify({ model: 'm', ...INPUTS[dialect], ...body })
  return keptChat(all, { dialect }).digest.size.serverTools
}

const search = (more: object = {}, type = 'web_search_20250305'): object => ({
  type,
  name: 'web_search',
  ...more,
})
const fetches = (more: object = {}, type = 'web_fetch_20250910'): object => ({
  type,
  name: 'web_fetch',
  ...more,
})
const own = { type: 'custom', name: 'f', input_schema: {} }
const named = { type: 'function', name: 'f', function: { name: 'f' } }

t.test('tools that the caller runs are not server tools', async (t) => {
  const chat = [[], [named], [{ type: 'custom', custom: { name: 'f' } }]]
  for (const tools of chat) t.equal(toolsOf('chat', { tools }), null, JSON.stringify(tools))
  t.equal(toolsOf('chat', { web_search_options: null, enable_search: false }), null)
  for (const type of [
    'custom',
    'local_shell',
    'apply_patch',
    'computer_use_preview',
    'namespace',
    'tool_search',
  ])
    t.equal(toolsOf('responses', { tools: [named, { type }] }), null, type)
  t.equal(toolsOf('responses', { tools: [{ type: 'shell', environment: { type: 'local' } }] }), null)
  for (const type of [
    undefined,
    null,
    'custom',
    'bash_20250124',
    'text_editor_20250728',
    'computer_20251124',
  ])
    t.equal(toolsOf('messages', { tools: [{ ...own, type }] }), null, String(type))
  t.equal(toolsOf('messages', { mcp_servers: [] }), null)
})

t.test('tools without a maximum of uses are unbounded, and the missing member is named', async (t) => {
  const cases: readonly (readonly [Dialect, object, string, ServerTools['price']])[] = [
    ['chat', { web_search_options: {} }, '/web_search_options', 'search'],
    ['chat', { search_parameters: { mode: 'auto' } }, '/search_parameters', 'search'],
    ['chat', { enable_search: true }, '/enable_search', 'search'],
    ['chat', { tools: [named, { type: 'web_search', max_uses: 1 }] }, '/tools/1/type', 'other'],
    [
      'chat',
      { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] },
      '/tools/0/type',
      'other',
    ],
    ['responses', { tools: [named, { type: 'web_search' }] }, '/max_tool_calls', 'search'],
    [
      'responses',
      { tools: [{ type: 'web_search_preview' }], max_tool_calls: null },
      '/max_tool_calls',
      'search',
    ],
    ['responses', { tools: [{ type: 'mcp' }], max_tool_calls: 1 }, '/tools/0/type', 'tokens'],
    ['responses', { tools: [{ type: 'web_search_x' }], max_tool_calls: 1 }, '/tools/0/type', 'other'],
    ['messages', { tools: [own, search()] }, '/tools/1/max_uses', 'search'],
    ['messages', { tools: [fetches()] }, '/tools/0/max_uses', 'tokens'],
    // Code of the provider uses later versions, in steps of its own.
    [
      'messages',
      { tools: [search({ max_uses: 1 }, 'web_search_20260209')] },
      '/tools/0/allowed_callers',
      'search',
    ],
    [
      'messages',
      { tools: [search({ max_uses: 1, allowed_callers: ['code_execution_20260120'] })] },
      '/tools/0/allowed_callers',
      'search',
    ],
    [
      'messages',
      { tools: [search({ max_uses: 1, allowed_callers: [] })] },
      '/tools/0/allowed_callers',
      'search',
    ],
    [
      'messages',
      { tools: [search({ max_uses: 1, allowed_callers: 'direct' })] },
      '/tools/0/allowed_callers',
      'search',
    ],
    ['messages', { tools: [{ type: 'code_execution_20250825' }] }, '/tools/0/type', 'other'],
    ['messages', { tools: [{ type: 'tool_search_tool_regex_20251119' }] }, '/tools/0/type', 'tokens'],
    ['messages', { tools: [{ type: 'new', max_uses: 1 }] }, '/tools/0/type', 'other'],
    ['messages', { tools: [{ type: 'bash_x' }] }, '/tools/0/type', 'other'],
    ['messages', { mcp_servers: [{ type: 'url' }] }, '/mcp_servers', 'tokens'],
  ]
  for (const [dialect, body, path, price] of cases)
    t.match(toolsOf(dialect, body), { path, price, uses: null, searches: 0 }, JSON.stringify(body))
  for (const type of ['file_search', 'code_interpreter', 'image_generation', 'shell', 'new'])
    t.match(
      toolsOf('responses', { tools: [{ type }], max_tool_calls: 1 }),
      { uses: null, price: 'other' },
      type,
    )
  for (const max_uses of [0, -1, 1.5, '5', null, 2 ** 53, 1e300, [1], true])
    t.match(toolsOf('messages', { tools: [search({ max_uses })] }), { uses: null }, JSON.stringify(max_uses))
})

/** Every place of a conversation that takes tools, with its path. */
const WITHIN: readonly (readonly [Dialect, string, (tool: object) => object])[] = [
  [
    'responses',
    '/input/1/tools/1',
    (tool) => ({ input: [user, { type: 'additional_tools', role: 'developer', tools: [named, tool] }] }),
  ],
  [
    'responses',
    '/input/0/tools/0',
    (tool) => ({ input: [{ type: 'tool_search_output', call_id: 'c', tools: [tool] }] }),
  ],
  ['responses', '/tools/1/tools/1', (tool) => ({ tools: [named, namespace(named, tool)] })],
  [
    'responses',
    '/input/0/tools/0/tools/0/tools/0',
    (tool) => ({ input: [{ type: 'new', tools: [namespace(namespace(tool)), named] }] }),
  ],
  ['responses', '/input/0/tools/0', (tool) => ({ input: [{ ...user, tools: [tool] }] })],
  ['chat', '/messages/1/tools/0', (tool) => ({ messages: [user, { ...user, tools: [tool] }] })],
  [
    'messages',
    '/messages/1/content/1/tool/definition',
    (tool) => ({ messages: [user, { role: 'system', content: [{ type: 'text', text: 'x' }, added(tool)] }] }),
  ],
  [
    'messages',
    '/messages/0/content/0/tool_changes/1/tool/definition',
    (tool) => ({
      messages: [
        { role: 'user', content: [{ type: 'compaction', tool_changes: [added(own), added(tool)] }] },
      ],
    }),
  ],
]
const user = { role: 'user', content: 'x' }
const namespace = (...tools: object[]): object => ({ type: 'namespace', name: 'n', tools })
const added = (definition: object): object => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition },
})

t.test('tools within a conversation count like tools at the top', async (t) => {
  for (const [dialect, path, body] of WITHIN) {
    t.match(
      toolsOf(dialect, body({ type: 'code_interpreter' })),
      { path: `${path}/type`, price: 'other', uses: null },
      path,
    )
    t.equal(toolsOf(dialect, body(dialect === 'messages' ? own : named)), null, path)
    const refused = body({ type: 'openrouter:web_search' })
    t.throws(() => toolsOf(dialect, refused), new RegExp(`not_supported.*"${path}/type"`), path)
    if (dialect !== 'responses') continue
    const searches = body({ type: 'web_search' })
    t.match(toolsOf(dialect, searches), { path: '/max_tool_calls', price: 'search', uses: null })
    t.match(toolsOf(dialect, { ...searches, max_tool_calls: 3 }), { path, uses: 3, searches: 3 })
    t.match(toolsOf(dialect, body({ type: 'mcp' })), { path: `${path}/type`, price: 'tokens' })
  }
  const turn = { role: 'user', content: [added(search({ max_uses: 2 })), added(search({ max_uses: 3 }))] }
  t.match(toolsOf('messages', { messages: [turn] }), { uses: 5, searches: 5, price: 'search' })
})

t.test('lists of the tools of an MCP server, and bare tool names, declare no tool', async (t) => {
  const listed = [{ name: 'f', input_schema: {} }, 7, null, 'web_search', [{ type: 'web_search' }]]
  t.equal(toolsOf('responses', { input: [{ type: 'mcp_list_tools', tools: listed }] }), null)
  for (const tools of [null, {}, 'web_search', 7])
    t.equal(toolsOf('responses', { input: [{ ...user, tools }] }), null, JSON.stringify(tools))
  for (const block of [
    { type: 'mcp_tool_listing', mcp_server_name: 's', tools: listed },
    { type: 'tool_addition', tool: { type: 'tool_reference', name: 'web_search' } },
    { type: 'tool_addition', tool: { type: 'tool_definition', definition: 'web_search' } },
    { type: 'compaction', tool_changes: [null, {}, { type: 'tool_removal', tool: { name: 'f' } }] },
  ])
    t.equal(toolsOf('messages', { messages: [{ role: 'user', content: [block] }] }), null, block.type)
})

t.test('every tool within a conversation adds to the size, and a required tool is found there', async (t) => {
  const tool = { ...named, input_schema: {} }
  for (const [dialect, path, body] of WITHIN) {
    const choice = dialect === 'messages' ? { type: 'tool', name: 'f' } : named
    const read = (more: object): ReturnType<typeof keptChat>['digest'] =>
      keptChat(JSON.stringify({ model: 'm', ...INPUTS[dialect], ...more, tool_choice: choice }), { dialect })
        .digest
    const declared = dialect === 'messages' ? own : tool
    t.ok(read(body(declared)).size.tools > 0, path)
    t.equal(read(body(declared)).hasTool, true, path)
    t.equal(read({}).hasTool, false)
  }
})

t.test('a tool that cannot be bounded is reported first, and makes all tools unbounded', async (t) => {
  const tools = [search({ max_uses: 2 }), search(), { type: 'code_execution_20250825' }]
  t.match(toolsOf('messages', { tools }), { path: '/tools/2/type', uses: null, remedy: null, price: 'other' })
  t.match(toolsOf('messages', { tools: tools.slice(0, 2) }), {
    ...{ path: '/tools/1/max_uses', uses: null, price: 'search' },
    remedy: 'a whole number, at least 1',
  })
  const mixed = [{ type: 'web_search' }, { type: 'code_interpreter' }]
  t.match(toolsOf('responses', { tools: mixed }), { path: '/tools/1/type', uses: null })
})

t.test('uses are added up, also of a tool declared twice; fetches do not count as searches', async (t) => {
  const uses = (more: object, dialect: Dialect = 'messages'): unknown => {
    const tools = toolsOf(dialect, more)
    return tools === null ? null : [tools.uses, tools.searches, tools.price]
  }
  t.same(uses({ tools: [own, search({ max_uses: 5 })] }), [5, 5, 'search'])
  t.same(uses({ tools: [search({ max_uses: 5 }), search({ max_uses: 5 })] }), [10, 10, 'search'])
  t.same(uses({ tools: [search({ max_uses: 2 }), fetches({ max_uses: 3 })] }), [5, 2, 'search'])
  t.same(uses({ tools: [fetches({ max_uses: 3 })] }), [3, 0, 'tokens'])
  const direct = { max_uses: 4, allowed_callers: ['direct'] }
  t.same(uses({ tools: [search(direct, 'web_search_20260209')] }), [4, 4, 'search'])
  const most = Number.MAX_SAFE_INTEGER
  t.same(uses({ tools: [search({ max_uses: most })] }), [most, most, 'search'])
  for (const type of [
    'web_search',
    'web_search_preview',
    'web_search_2025_08_26',
    'web_search_preview_2025_03_11',
  ])
    t.same(uses({ tools: [named, { type }], max_tool_calls: 3 }, 'responses'), [3, 3, 'search'], type)
  const twice = [{ type: 'web_search' }, { type: 'web_search' }]
  t.same(uses({ tools: twice, max_tool_calls: 3 }, 'responses'), [3, 3, 'search'], 'a maximum of all tools')
})
