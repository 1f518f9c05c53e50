import { BODIES } from '../../src/schemas/bodies.ts'
import { descriptionOf, isObject } from '../../src/server/http/reference/members/described.ts'
import { memberText, type FoundText, type Place } from '../../src/server/http/reference/members/texts.ts'
import type { AnyOperation } from '../../src/server/operations/define.ts'

/** A member whose description comes from a table of texts. */
export interface TabledMember extends FoundText {
  /** Operation, side and path: `keys.get answer data.name`. */
  readonly at: string
  /** JSON types of its values without null, in order: `array|string`. */
  readonly types: string
}

/** The members of all operations that take their descriptions from the tables. */
export function tabledMembers(operations: readonly AnyOperation[]): readonly TabledMember[] {
  return operations.flatMap(({ id, tag, input, success }) => {
    const place = (side: Place['side']): Place => ({ subject: tag, operation: id, side })
    return [
      ...membersOf(success.body, place('answer')),
      ...membersOf(success.events, place('answer')),
      ...(input.body === undefined ? [] : membersOf(BODIES[input.body].schema, place('body'))),
    ]
  })
}

const WITHIN = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items', 'additionalProperties', 'not'] as const

function membersOf(schema: unknown, place: Place, path: readonly string[] = []): readonly TabledMember[] {
  if (!isObject(schema)) return []
  const inner = WITHIN.flatMap((name) => schema[name]).flatMap((one) => membersOf(one, place, path))
  const { properties } = schema
  if (!isObject(properties)) return inner
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const at = [...path, name]
    const found = descriptionOf(member) === undefined ? memberText(name, path.at(-1) ?? '', place) : undefined
    const tabled = found && {
      ...found,
      at: `${place.operation} ${place.side} ${at.join('.')}`,
      types: typesOf(member),
    }
    return [...(tabled === undefined ? [] : [tabled]), ...membersOf(member, place, at)]
  })
  return [...own, ...inner]
}

/** JSON types of a schema's values without null. */
function typesOf(schema: unknown): string {
  return [...new Set(listOf(schema))]
    .filter((type) => type !== 'null')
    .sort()
    .join('|')
}

function listOf(schema: unknown): readonly string[] {
  if (!isObject(schema)) return []
  for (const name of ['anyOf', 'oneOf'] as const) {
    const alternatives = schema[name]
    if (Array.isArray(alternatives)) return alternatives.flatMap(listOf)
  }
  const { type } = schema
  if (Array.isArray(type)) return type.map(String)
  // Whole numbers are numbers.
  if (typeof type === 'string') return [type === 'integer' ? 'number' : type]
  const values = 'const' in schema ? [schema['const']] : schema['enum']
  return Array.isArray(values) ? values.map((value) => (value === null ? 'null' : typeof value)) : ['any']
}
