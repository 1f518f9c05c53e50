/** Functions that callers declare, in the words of every form. */
import { isObject, type Members } from '../../values/members.ts'
import type { JsonPath } from '../../values/json-path.ts'
import { cachePointOf, flagOf, textOf, type Others } from './others.ts'
import type { PromptTool, ToolChoice } from './prompt.ts'

const USED: ReadonlySet<string> = new Set(['type', 'name', 'description', 'strict', 'cache_control'])

interface Declared {
  readonly path: JsonPath
  /** Name of the member that has the schema of the arguments. */
  readonly schema: string
  /** Where the tool has its `cache_control`, if not in the function itself. */
  readonly outer?: Members
}

export function readFunction(told: Members, declared: Declared, others: Others): PromptTool {
  const { path, schema, outer = told } = declared
  others.addRest(told, new Set([...USED, schema]), { path })
  const parameters = told[schema]
  return {
    name: textOf(told['name']) ?? '',
    description: textOf(told['description']),
    schema: isObject(parameters) ? parameters : null,
    isStrict: flagOf(told['strict']),
    cache: cachePointOf(outer['cache_control']),
  }
}

/** The words of OpenAI's two forms for a choice of tools; null: the choice is none of them. */
export function choiceOfWord(word: unknown): ToolChoice | null {
  return word === 'auto' || word === 'none' || word === 'required' ? { kind: word } : null
}
