/** Functions that callers declare, in the words of every form. */
import { isObject, type Members } from '../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../schemas/values/json-path.ts'
import { cachePointOf, flagOf, textIn, textOf, type Others } from './others.ts'
import type { PromptTool, ToolChoice } from './prompt.ts'

interface Declared {
  readonly path: JsonPath
  /** Members of the table. */
  readonly used: ReadonlySet<string>
  /** Name of the member that has the schema of the arguments. */
  readonly schema: string
  /** Where the tool has its `cache_control`, if not in the function itself. */
  readonly outer?: Members
}

export function readFunction(sent: Members, declared: Declared, others: Others): PromptTool {
  const { path, used, schema, outer = sent } = declared
  others.addRest(sent, used, { path })
  const parameters = sent[schema]
  if (!isObject(parameters)) others.addUnread('tools', parameters, [...path, schema])
  return {
    name: textOf(sent['name']) ?? '',
    description: textIn(sent, 'description', { path, others }),
    schema: isObject(parameters) ? parameters : null,
    path: pointerOf([...path, schema]),
    isStrict: flagOf(sent['strict']),
    cache: cachePointOf(outer['cache_control'] ?? outer['prompt_cache_breakpoint']),
  }
}

/**
 * Reads `allowed_tools`: a choice among the declared tools. Null when an entry is not a declared tool.
 * @param sent the object with `mode` and `tools`
 * @param nameOf the name of a tool as its declaration has it
 */
export function allowedChoice(sent: Members, nameOf: (tool: Members) => string | null): ToolChoice | null {
  const { mode, tools } = sent
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools)) return null
  const names = (tools as readonly unknown[]).map((tool) => (isObject(tool) ? nameOf(tool) : null))
  const known = names.filter((name) => name !== null)
  return known.length < names.length ? null : { kind: 'allowed', mode, names: known }
}

/** Reads a choice of tools that is one of OpenAI's words, otherwise null. */
export function choiceOfWord(word: unknown): ToolChoice | null {
  return word === 'auto' || word === 'none' || word === 'required' ? { kind: word } : null
}
