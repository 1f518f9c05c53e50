/** Functions that callers declare, in the words of every form. */
import { isObject, type Members } from '../../values/members.ts'
import type { JsonPath } from '../../values/json-path.ts'
import { cachePointOf, flagOf, textOf, type Others } from './others.ts'
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

export function readFunction(told: Members, declared: Declared, others: Others): PromptTool {
  const { path, used, schema, outer = told } = declared
  others.addRest(told, used, { path })
  const parameters = told[schema]
  return {
    name: textOf(told['name']) ?? '',
    description: textOf(told['description']),
    schema: isObject(parameters) ? parameters : null,
    isStrict: flagOf(told['strict']),
    cache: cachePointOf(outer['cache_control'] ?? outer['prompt_cache_breakpoint']),
  }
}

/** The words of OpenAI's two forms for a choice of tools; null: the choice is none of them. */
export function choiceOfWord(word: unknown): ToolChoice | null {
  return word === 'auto' || word === 'none' || word === 'required' ? { kind: word } : null
}
