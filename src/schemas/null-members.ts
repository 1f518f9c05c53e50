import type { TSchema } from 'typebox'
import { fits } from './fits.ts'

interface Shape {
  readonly anyOf?: readonly TSchema[]
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | TSchema
  readonly items?: TSchema
}

/**
 * A value without the optional members that are null although their shape does not accept null, at any depth:
 * clients in many languages write omitted members as null. Members that accept null keep it, since it has a
 * meaning there. A value without such members is returned without a copy.
 */
export function withoutNulls(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const shape: Shape = schema
  if (shape.anyOf !== undefined) return ofUnion(shape.anyOf, value)
  if (Array.isArray(value)) return shape.items === undefined ? value : ofArray(shape.items, value)
  return shape.properties === undefined && typeof shape.additionalProperties !== 'object'
    ? value
    : ofObject(shape, value)
}

/** The value without its nulls, for the first branch that then accepts it; unchanged when no branch does. */
function ofUnion(branches: readonly TSchema[], value: object): unknown {
  for (const branch of branches) {
    const without = withoutNulls(branch, value)
    if (fits(branch, without)) return without
  }
  return value
}

function ofArray(items: TSchema, value: readonly unknown[]): readonly unknown[] {
  let without: unknown[] | null = null
  for (let at = 0; at < value.length; at++) {
    const item = withoutNulls(items, value[at])
    if (item === value[at]) continue
    // Copied only when something changes, since a list may contain millions of numbers.
    without ??= value.slice()
    without[at] = item
  }
  return without ?? value
}

function ofObject(shape: Shape, value: object): object {
  const { properties = {}, required = [], additionalProperties: others } = shape
  let hasChanged = false
  const kept: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    const isNamed = Object.hasOwn(properties, name)
    const schema = isNamed ? properties[name] : others
    if (typeof schema !== 'object') {
      kept.push([name, member])
      continue
    }
    if (isNamed && member === null && !required.includes(name) && !fits(schema, null)) {
      hasChanged = true
      continue
    }
    const without = withoutNulls(schema, member)
    hasChanged ||= without !== member
    kept.push([name, without])
  }
  // Defines own members of any name, even `__proto__`.
  return hasChanged ? Object.fromEntries(kept) : value
}
