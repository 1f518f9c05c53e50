import { membersOf, type Members } from '../values/members.ts'
import { SEARCHES, type ChatBody } from './chat.ts'
import { chatTools, messagesTools, responsesTools, type DeclaredTool } from './declared-tools.ts'
import type { MessagesBody } from './messages.ts'
import type { ResponsesBody } from './responses.ts'

/**
 * What the tools of a provider cost beside the tokens of their steps, of all tools of a call the dearest:
 * `tokens` nothing, `search` the price of a search of the web, `other` what no catalogue tells.
 */
export type ServerToolPrice = 'tokens' | 'search' | 'other'

/** The tools of a call that its provider runs. Each step of them reads the whole input again. D9. */
export interface ServerTools {
  /** JSON pointer of what has no maximum; of the first of the tools where all have one. */
  readonly path: string
  readonly price: ServerToolPrice
  /** Uses of all tools together at most; null: nothing says. */
  readonly uses: number | null
  /** Searches of the web among them. */
  readonly searches: number
  /** What would give them a maximum; null: nothing does. */
  readonly remedy: string | null
}

const A_COUNT = 'a whole number, at least 1'

/** Types of tools of chat that the caller runs. */
const CHAT_CALLER_TOOLS: ReadonlySet<string> = new Set(['function', 'custom'])

/** Null: the provider runs none. Chat has no maximum of uses. */
export function chatServerTools(chat: ChatBody): ServerTools | null {
  const members: Members = chat
  const search = Object.keys(SEARCHES).find((name) => (members[name] ?? false) !== false)
  if (search !== undefined) return unbounded(`/${search}`, 'search')
  for (const { tool, path } of chatTools(chat))
    if (!CHAT_CALLER_TOOLS.has(String(tool['type']))) return unbounded(`${path}/type`, 'other')
  return null
}

/**
 * Tools that a provider of messages describes and the caller runs: their types begin with a name, and end
 * with a date.
 */
const CLIENT_TOOL = /^(?:custom$|bash_\d|text_editor_\d|computer_\d|memory_\d)/
const WEB_SEARCH = /^web_search_\d/
const WEB_FETCH = /^web_fetch_\d/
/** Steps of these cost their tokens alone. */
const OF_TOKENS = /^(?:mcp_toolset$|tool_search_tool_)/
/**
 * Those whose results the model reads itself. Later versions run code between, without a maximum of steps.
 */
const DIRECT: ReadonlySet<string> = new Set(['web_search_20250305', 'web_fetch_20250910'])
const DIRECT_CALLER = 'direct'

/** Null: the provider runs none. */
export function messagesServerTools(
  body: Pick<MessagesBody, 'tools' | 'messages' | 'mcp_servers'>,
): ServerTools | null {
  const own = allOf(messagesTools(body), messagesTool)
  return (body.mcp_servers ?? []).length > 0 ? together(own, unbounded('/mcp_servers', 'tokens')) : own
}

/** @param of what a tool of the provider has; null: the caller runs it */
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

/** No code of the provider calls the tool. */
function isDirect(type: string, callers: unknown): boolean {
  if (!Array.isArray(callers)) return DIRECT.has(type) && (callers ?? null) === null
  return callers.length > 0 && callers.every((caller) => caller === DIRECT_CALLER)
}

/** Tools that the caller of responses runs, or that are only parts of the input. */
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
  // The maximum is of all tools together.
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

/** Null: no maximum. Providers differ in what 0 means to them. */
function usesOf(maximum: unknown): number | null {
  return typeof maximum === 'number' && Number.isSafeInteger(maximum) && maximum > 0 ? maximum : null
}

function unbounded(path: string, price: ServerToolPrice, remedy: string | null = null): ServerTools {
  return { path, price, uses: null, searches: 0, remedy }
}

const PRICES: readonly ServerToolPrice[] = ['tokens', 'search', 'other']

/** What nothing can bound is named before what a maximum would. */
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
