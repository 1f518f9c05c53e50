import { isObject, membersOf, type Members } from '../values/members.ts'
import type { ChatBody } from './chat.ts'
import type { MessagesBody } from './messages.ts'
import type { ResponsesBody } from './responses.ts'

/** A tool that a request declares: providers take tools within the conversation, too. D9. */
export interface DeclaredTool {
  readonly tool: Members
  /** JSON pointer. */
  readonly path: string
}

/** Tools of a chat, also of its messages: no published form has such, and messages are open. */
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

/** Tools of messages, also those that turns add (`tool_addition`), and that a summary of turns keeps. */
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

/** @param path of the block whose member `tool` this is; without a definition it names a tool only */
function* defined(tool: unknown, path: string): Generator<DeclaredTool> {
  const { definition } = membersOf(tool)
  if (!isObject(definition)) return
  yield { tool: definition, path: `${path}/tool/definition` }
  yield* toolsIn(definition['tools'], `${path}/tool/definition/tools`, 'typed')
}

/**
 * Tools of a list, each before those within it (`namespace`). Within others, what has no type describes a
 * tool of a server (`mcp_list_tools`), and runs nothing. Without recursion: a body has millions of them.
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

/** Their number, without a list of them. */
export function countOf(tools: Iterable<DeclaredTool>): number {
  let count = 0
  for (const _ of tools) count++
  return count
}

/** Whether one of the tools is what the caller's `tool_choice` names. */
export function hasNamed(
  tools: Iterable<DeclaredTool>,
  name: string | null,
  nameOf: (tool: Members) => unknown = ({ name }) => name,
): boolean {
  if (name === null) return false
  for (const { tool } of tools) if (nameOf(tool) === name) return true
  return false
}
