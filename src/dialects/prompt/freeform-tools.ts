import { BETWEEN_TEXTS } from './prompt.ts'
import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import { textOf, type Others } from './others.ts'
/** Translates tools whose input is a text to functions with one text argument, for forms without such tools. */
import type { DeclaredOrigin, PromptCall, PromptTool } from './prompt.ts'
import { usedMembers } from '../table/nested-table.ts'
import { parsedArguments } from './calls.ts'

/** The one argument of the function. */
export const FREEFORM_INPUT = 'input'

const SCHEMA = {
  type: 'object',
  properties: {
    [FREEFORM_INPUT]: { type: 'string', description: 'The complete tool input, verbatim.' },
  },
  required: [FREEFORM_INPUT],
  additionalProperties: false,
} as const

const USED = usedMembers('responses', 'tools', { type: 'custom' })

/** @param path of the object that has its name @returns null: it has no name */
export function readFreeform(members: Members, path: JsonPath, others: Others): PromptTool | null {
  const [name, description] = [textOf(members['name']), textOf(members['description'])]
  if (name === null) return null
  others.addRest(members, USED, { path })
  const format = isObject(members['format']) ? members['format'] : null
  const grammar = grammarOf(format)
  if (format !== null && grammar === null && format['type'] !== 'text')
    others.drop('format', [...path, 'format'])
  const texts = [description, grammar].filter((text) => text !== null)
  return {
    name,
    description: texts.length === 0 ? null : texts.join(BETWEEN_TEXTS),
    origin: { name, namespace: null, isFreeform: true, description, about: null, format },
    schema: SCHEMA,
    isStrict: null,
    cache: null,
  }
}

/**
 * A description of the grammar of an input, since no other form enforces one. In chat the grammar is in a
 * member of the format, in responses in the format itself.
 */
function grammarOf(format: Members | null): string | null {
  if (format?.['type'] !== 'grammar') return null
  const { syntax, definition } = isObject(format['grammar']) ? membersOf(format['grammar']) : format
  if (typeof definition !== 'string') return null
  return `The input must follow this grammar (${textOf(syntax) ?? 'lark'}):\n${definition}`
}

/** The arguments of the function. */
export function freeformArguments(input: unknown): string {
  return JSON.stringify({ [FREEFORM_INPUT]: textOf(input) ?? '' })
}

/** The text in the arguments of the function. */
export function freeformInputOf({ arguments: json }: Pick<PromptCall, 'arguments'>): string {
  return textOf(membersOf(parsedArguments(json))[FREEFORM_INPUT]) ?? ''
}

/** The members of such a tool, in the dialect that declared it. */
export function freeformMembers({ name, description, format }: DeclaredOrigin): Members {
  return { name, ...(description !== null && { description }), ...(format !== null && { format }) }
}
