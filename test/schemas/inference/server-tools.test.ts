/** The tools that a provider runs in a call: what bounds their uses, and what names those without a bound. */
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

t.test('tools that the caller runs are none of the provider', async (t) => {
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

t.test('without a maximum of uses there is no bound, and what lacks it is named', async (t) => {
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
    ['responses', { tools: [{ type: 'web_search' }], max_tool_calls: 1e300 }, '/max_tool_calls', 'search'],
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

t.test('what no maximum would bound is named first, and makes all of the tools unbounded', async (t) => {
  const tools = [search({ max_uses: 2 }), search(), { type: 'code_execution_20250825' }]
  t.match(toolsOf('messages', { tools }), { path: '/tools/2/type', uses: null, remedy: null, price: 'other' })
  t.match(toolsOf('messages', { tools: tools.slice(0, 2) }), {
    ...{ path: '/tools/1/max_uses', uses: null, price: 'search' },
    remedy: 'a whole number of at least 1',
  })
  const mixed = [{ type: 'web_search' }, { type: 'code_interpreter' }]
  t.match(toolsOf('responses', { tools: mixed }), { path: '/tools/1/type', uses: null })
})

t.test('uses add up, of a tool that stands twice too; fetches are no searches', async (t) => {
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
