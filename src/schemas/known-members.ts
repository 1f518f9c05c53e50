import type { TSchema } from 'typebox'
import { fits } from './fits.ts'

interface Shape {
  readonly anyOf?: readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly additionalProperties?: boolean | TSchema
  readonly items?: TSchema
}

/** Names of members that values of the shape may have, at any depth. */
export function memberNames(schema: TSchema | null): readonly string[] {
  const { anyOf = [], properties = {}, items }: Shape = schema ?? {}
  const inner = [...anyOf, ...Object.values(properties), ...(items === undefined ? [] : [items])]
  return [...Object.keys(properties), ...inner.flatMap(memberNames)]
}

/**
 * A value that passed its schema, without the members that the schema does not name, at any depth. An object
 * keeps other members only if its schema allows them explicitly. The order is kept.
 */
export function knownOf(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const shape: Shape = schema
  if (shape.anyOf !== undefined) {
    const branch = shape.anyOf.find((each) => fits(each, value))
    return branch === undefined ? value : knownOf(branch, value)
  }
  if (Array.isArray(value)) {
    const { items } = shape
    return items === undefined ? value : value.map((item) => knownOf(items, item))
  }
  return shape.properties === undefined && shape.additionalProperties === undefined
    ? value
    : knownObject(shape, value)
}

function knownObject({ properties = {}, additionalProperties: others }: Shape, value: object): object {
  const known: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : others
    if (schema === true) known[name] = member
    else if (typeof schema === 'object') known[name] = knownOf(schema, member)
  }
  return known
}
