import { membersOf, type Members, isObject } from '../values/members.ts'
import { SEARCHES, type ChatBody } from './chat.ts'
import type { MessagesBody } from './messages.ts'
import type { ResponsesBody } from './responses.ts'

/**
 * The price of the provider's tools in addition to the tokens of their steps; the most expensive tool of a
 * call counts. `tokens`: no additional price; `search`: the price of a web search; `other`: a price that no
 * catalogue lists.
 */
export type ServerToolPrice = 'tokens' | 'search' | 'other'

/** The tools of a call that its provider runs. Each tool step reads the whole input again. */
export interface ServerTools {
  /** JSON pointer of the first tool without a maximum of uses; if all have one, of the first tool. */
  readonly path: string
  readonly price: ServerToolPrice
  /** The most uses of all tools together; null: unlimited. */
  readonly uses: number | null
  /** The web searches among the uses. */
  readonly searches: number
  /** The change that would set a maximum; null: none is possible. */
  readonly remedy: string | null
}

const A_COUNT = 'a whole number, at least 1'

/** Types of tools of chat that the caller runs. */
const CHAT_CALLER_TOOLS: ReadonlySet<string> = new Set(['function', 'custom'])

/** Null: the provider runs none. Chat has no member for a maximum of uses. */
export function chatServerTools(chat: ChatBody): ServerTools | null {
  const members: Members = chat
  const search = Object.keys(SEARCHES).find((name) => (members[name] ?? false) !== false)
  if (search !== undefined) return unbounded(`/${search}`, 'search')
  for (const { tool, path } of chatTools(chat))
    if (!CHAT_CALLER_TOOLS.has(String(tool['type']))) return unbounded(`${path}/type`, 'other')
  return null
}

/** Tools that a Messages provider defines and the caller runs; their types are a name and a date. */
const CLIENT_TOOL = /^(?:custom$|bash_\d|text_editor_\d|computer_\d|memory_\d)/
const WEB_SEARCH = /^web_search_\d/
const WEB_FETCH = /^web_fetch_\d/
/** Steps of these tools cost only their tokens. */
const OF_TOKENS = /^(?:mcp_toolset$|tool_search_tool_)/
/** Tools whose results the model reads directly. Later versions run code in between, without a maximum of steps. */
const DIRECT: ReadonlySet<string> = new Set(['web_search_20250305', 'web_fetch_20250910'])
const DIRECT_CALLER = 'direct'

/** Null: the provider runs none. */
export function messagesServerTools(
  body: Pick<MessagesBody, 'tools' | 'messages' | 'mcp_servers'>,
): ServerTools | null {
  const own = allOf(messagesTools(body), messagesTool)
  return (body.mcp_servers ?? []).length > 0 ? together(own, unbounded('/mcp_servers', 'tokens')) : own
}

/** @param of the properties of a provider tool; null: the caller runs the tool */
function allOf(
  tools: Iterable<DeclaredTool>,
  of: (tool: DeclaredTool) => ServerTools | null,
): ServerTools | null {
  let all: ServerTools | null = null
  for (const tool of tools) {
    const one = of(tool)
    if (one !== null) all = together(all, one)
  }
  return all
}

function messagesTool({ tool, path }: DeclaredTool): ServerTools | null {
  const type = typeof tool['type'] === 'string' ? tool['type'] : 'custom'
  if (CLIENT_TOOL.test(type)) return null
  const isSearch = WEB_SEARCH.test(type)
  if (!isSearch && !WEB_FETCH.test(type))
    return unbounded(`${path}/type`, OF_TOKENS.test(type) ? 'tokens' : 'other')
  const price = isSearch ? 'search' : 'tokens'
  const uses = usesOf(tool['max_uses'])
  if (uses === null) return unbounded(`${path}/max_uses`, price, A_COUNT)
  if (!isDirect(type, tool['allowed_callers']))
    return unbounded(`${path}/allowed_callers`, price, `\`["${DIRECT_CALLER}"]\``)
  return { path, price, uses, searches: isSearch ? uses : 0, remedy: null }
}

/** Whether no code that the provider runs can call the tool. */
function isDirect(type: string, callers: unknown): boolean {
  if (!Array.isArray(callers)) return DIRECT.has(type) && (callers ?? null) === null
  return callers.length > 0 && callers.every((caller) => caller === DIRECT_CALLER)
}

/** Tools of the Responses dialect that the caller runs, or that are only parts of the input. */
const RESPONSES_CALLER_TOOLS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
  'namespace',
  'tool_search',
])
const RESPONSES_SEARCH = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/

/** Null: the provider runs none. */
export function responsesServerTools(body: ResponsesBody): ServerTools | null {
  const uses = usesOf(body.max_tool_calls)
  const all = allOf(responsesTools(body), (tool) => responsesTool(tool, uses))
  // The maximum applies to all tools together.
  return all === null || all.uses === null ? all : { ...all, uses, searches: uses ?? 0 }
}

function responsesTool({ tool, path }: DeclaredTool, uses: number | null): ServerTools | null {
  const type = String(tool['type'])
  const isLocal = type === 'shell' && membersOf(tool['environment'])['type'] === 'local'
  if (isLocal || RESPONSES_CALLER_TOOLS.has(type)) return null
  if (!RESPONSES_SEARCH.test(type)) return unbounded(`${path}/type`, type === 'mcp' ? 'tokens' : 'other')
  return uses === null
    ? unbounded('/max_tool_calls', 'search', A_COUNT)
    : { path, price: 'search', uses, searches: uses, remedy: null }
}

/** Null: no maximum. 0 also gives null, since its meaning differs between providers. */
function usesOf(maximum: unknown): number | null {
  return typeof maximum === 'number' && Number.isSafeInteger(maximum) && maximum > 0 ? maximum : null
}

function unbounded(path: string, price: ServerToolPrice, remedy: string | null = null): ServerTools {
  return { path, price, uses: null, searches: 0, remedy }
}

const PRICES: readonly ServerToolPrice[] = ['tokens', 'search', 'other']

/** Combines two results; a tool that cannot be bounded is reported before one that a maximum would bound. */
function together(one: ServerTools | null, other: ServerTools): ServerTools {
  if (one === null) return other
  const named = hardness(other) > hardness(one) ? other : one
  return {
    path: named.path,
    price: PRICES.indexOf(other.price) > PRICES.indexOf(one.price) ? other.price : one.price,
    uses: one.uses === null || other.uses === null ? null : one.uses + other.uses,
    searches: one.searches + other.searches,
    remedy: named.remedy,
  }
}

function hardness({ uses, remedy }: ServerTools): number {
  if (uses !== null) return 0
  return remedy === null ? 2 : 1
}

/** A tool that a request declares; providers also accept tools within the conversation. */
export interface DeclaredTool {
  readonly tool: Members
  /** JSON pointer. */
  readonly path: string
}

/** Tools of a chat, including tools in its messages: no published API has them there, but messages accept unknown members. */
export function* chatTools(chat: Pick<ChatBody, 'tools' | 'messages'>): Generator<DeclaredTool> {
  if (Array.isArray(chat.tools)) yield* toolsIn(chat.tools, '/tools')
  for (const [nth, message] of chat.messages.entries()) {
    const { tools } = membersOf(message)
    if (Array.isArray(tools)) yield* toolsIn(tools, `/messages/${nth}/tools`, 'typed')
  }
}

/** Tools of responses, also of items of the input (`additional_tools`, `tool_search_output`). */
export function* responsesTools({
  tools,
  input,
}: Pick<ResponsesBody, 'tools' | 'input'>): Generator<DeclaredTool> {
  yield* toolsIn(tools, '/tools')
  if (!Array.isArray(input)) return
  for (const [nth, item] of input.entries()) {
    const { tools } = membersOf(item)
    if (Array.isArray(tools)) yield* toolsIn(tools, `/input/${nth}/tools`, 'typed')
  }
}

/** Tools of messages, including those that turns add (`tool_addition`) and those that a summary of turns keeps. */
export function* messagesTools(body: Pick<MessagesBody, 'tools' | 'messages'>): Generator<DeclaredTool> {
  yield* toolsIn(body.tools, '/tools')
  for (const [nth, { content }] of body.messages.entries()) {
    if (typeof content === 'string') continue
    for (const [at, block] of content.entries()) {
      const { tool, tool_changes } = membersOf(block)
      if (tool !== undefined) yield* defined(tool, `/messages/${nth}/content/${at}`)
      if (!Array.isArray(tool_changes)) continue
      for (const [change, one] of tool_changes.entries())
        yield* defined(membersOf(one)['tool'], `/messages/${nth}/content/${at}/tool_changes/${change}`)
    }
  }
}

/** @param path of the block whose member `tool` this is; without a definition, the member only names a tool */
function* defined(tool: unknown, path: string): Generator<DeclaredTool> {
  const { definition } = membersOf(tool)
  if (!isObject(definition)) return
  yield { tool: definition, path: `${path}/tool/definition` }
  yield* toolsIn(definition['tools'], `${path}/tool/definition/tools`, 'typed')
}

/**
 * Tools of a list, each before the tools inside it (`namespace`). Inside another tool, an entry without a
 * type only describes a tool of a server (`mcp_list_tools`). Not recursive, since a body may have millions of
 * tools.
 */
function* toolsIn(list: unknown, path: string, which: 'all' | 'typed' = 'all'): Generator<DeclaredTool> {
  if (!Array.isArray(list)) return
  const open: { readonly list: readonly unknown[]; readonly path: string; at: number }[] = [
    { list, path, at: 0 },
  ]
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    if (last.at >= last.list.length) {
      open.pop()
      continue
    }
    const nth = last.at++
    const tool = membersOf(last.list[nth])
    const isSeen = typeof tool['type'] === 'string' || (which === 'all' && open.length === 1)
    if (isSeen) yield { tool, path: `${last.path}/${nth}` }
    const { tools } = tool
    if (Array.isArray(tools)) open.push({ list: tools, path: `${last.path}/${nth}/tools`, at: 0 })
  }
}

/** Counts the tools without making a list. */
export function countOf(tools: Iterable<DeclaredTool>): number {
  let count = 0
  for (const _ of tools) count++
  return count
}

/** Whether the caller's `tool_choice` names one of the tools. */
export function hasNamed(
  tools: Iterable<DeclaredTool>,
  name: string | null,
  nameOf: (tool: Members) => unknown = ({ name }) => name,
): boolean {
  if (name === null) return false
  for (const { tool } of tools) if (nameOf(tool) === name) return true
  return false
}
