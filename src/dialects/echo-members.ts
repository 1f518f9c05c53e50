/** Members of a request that the built-in model reads. It ignores the others. */
import { isDefaultValue, otherField, TUNING } from './table/field-table.ts'
import { OURS_NAMES } from '../schemas/inference/text-members.ts'
import type { Dialect } from '../schemas/inference/text-request.ts'

const READ: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  chat: new Set([
    ...['model', 'messages', 'stream', 'stream_options', 'n', 'stop', 'max_tokens', 'max_completion_tokens'],
    ...['reasoning', 'reasoning_effort', 'tools', 'tool_choice', 'response_format'],
    ...OURS_NAMES,
  ]),
  responses: new Set([
    ...['model', 'input', 'instructions', 'stream', 'include', 'max_output_tokens'],
    ...['reasoning', 'tools', 'tool_choice', 'text'],
    ...OURS_NAMES,
  ]),
  messages: new Set([
    ...['model', 'messages', 'system', 'stream', 'stop_sequences', 'max_tokens'],
    ...['thinking', 'tools', 'tool_choice', 'output_config', 'output_format'],
    ...OURS_NAMES,
  ]),
}

const TUNED: ReadonlyMap<string, readonly unknown[]> = new Map(
  Object.values(TUNING).map(({ member, defaults }) => [member, defaults]),
)

export function isReadByEcho(dialect: Dialect, name: string): boolean {
  return READ[dialect].has(name)
}

/** Whether a member that the model does not read is equivalent to its absence. */
export function saysNothingToEcho(dialect: Dialect, name: string, value: unknown): boolean {
  return isDefaultValue(value, TUNED.get(name) ?? otherField(dialect, name)?.defaults ?? [])
}
