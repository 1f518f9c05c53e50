import type { Json } from '../openapi-json.ts'
import { memberText, type Place } from './texts.ts'

/** Members of a schema that hold schemas. */
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const SINGLES = ['items', 'additionalProperties', 'not'] as const

/**
 * A copy of a schema in which each member has a description: the one of its shape, else the one for its place.
 * @param owner name of the member whose schema it is; empty at the top
 */
export function described(schema: unknown, place: Place, owner = ''): unknown {
  if (!isObject(schema)) return schema
  const copy: Record<string, unknown> = { ...schema }
  for (const name of LISTS) {
    const list = schema[name]
    if (Array.isArray(list)) copy[name] = list.map((one: unknown) => described(one, place, owner))
  }
  for (const name of SINGLES) if (isObject(schema[name])) copy[name] = described(schema[name], place, owner)
  if (isObject(schema['properties'])) copy['properties'] = membersOf(schema['properties'], place, owner)
  return copy
}

function membersOf(properties: Json, place: Place, owner: string): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => {
      const shape = described(member, place, name)
      const text = descriptionOf(shape) ?? memberText(name, owner, place)?.text
      return [name, text === undefined ? shape : { ...(shape as Json), description: text }]
    }),
  )
}

/** The description of a schema: its own, or that of its only alternative to null. */
export function descriptionOf(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  const { description, anyOf } = schema
  if (typeof description === 'string' && description !== '') return description
  const alternatives: readonly unknown[] = Array.isArray(anyOf) ? anyOf.filter((one) => !isNull(one)) : []
  return alternatives.length === 1 ? descriptionOf(alternatives[0]) : undefined
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'null'
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
