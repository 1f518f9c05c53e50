/** Names of what writers leave out, as callers of each dialect have them. */
import type { Dialect } from '../../schemas/inference/text-request.ts'

/** By the name that writers have, which is that of chat; other dialects have the same one where none is here. */
const SHOWN_NAMES: Readonly<Record<string, Readonly<Partial<Record<Dialect, string>>>>> = {
  'reasoning.max_tokens': { messages: 'thinking.budget_tokens' },
  'reasoning.effort': { messages: 'output_config.effort' },
  'reasoning.exclude': { messages: 'thinking.display' },
  'response_format.json_schema.description': { responses: 'text.format.description' },
  filename: { messages: 'title' },
  parallel_tool_calls: { messages: 'tool_choice.disable_parallel_tool_use' },
  user: { messages: 'metadata.user_id' },
}

/** Where a caller's body has its turns. */
export function turnsPathOf(dialect: Dialect): string {
  return dialect === 'responses' ? '/input' : '/messages'
}

/** @param name as a writer has it */
export function shownName(name: string, dialect: Dialect): string {
  return (Object.hasOwn(SHOWN_NAMES, name) ? SHOWN_NAMES[name]?.[dialect] : undefined) ?? name
}
