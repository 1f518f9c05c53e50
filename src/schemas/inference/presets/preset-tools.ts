/** Tools that one form of calls saved, in the words of another. */
import { membersOf } from '../../values/members.ts'
import type { PresetSource } from './text-preset.ts'

/** A function that the caller runs. */
export interface FunctionTool {
  readonly name: string
  readonly description: unknown
  readonly parameters: unknown
  readonly strict: unknown
}

/** @returns null: the tool is of another kind, which other forms lack. What is missing is undefined */
export function functionOf(tool: unknown, source: PresetSource): FunctionTool | null {
  const { type = 'custom', ...members } = membersOf(tool)
  if (type !== (source === 'messages' ? 'custom' : 'function')) return null
  const told = source === 'chat' ? membersOf(members['function']) : members
  const { name, description, strict } = told
  if (typeof name !== 'string') return null
  const parameters = told[source === 'messages' ? 'input_schema' : 'parameters'] ?? undefined
  return { name, description: description ?? undefined, parameters, strict: strict ?? undefined }
}
