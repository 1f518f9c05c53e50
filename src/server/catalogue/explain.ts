import type { TArray, TObject, TSchema, TUnion } from 'typebox'
import { IsArray, IsBoolean, IsObject, IsOptional, IsString, IsUnion } from 'typebox'
import { Value } from 'typebox/value'
import type { Issue } from '../../schemas/failure-metadata.ts'
import { pointer } from '../../schemas/issues.ts'

/**
 * Lists where a value departs from a shape, every place once. The validator's own list would stop at eight
 * and include each branch of a union.
 * @param path JSON pointer of the value
 */
export function explain(schema: TSchema, value: unknown, path: string): readonly Issue[] {
  if (Value.Check(schema, value)) return []
  if (IsUnion(schema)) return explainUnion(schema, value, path)
  if (IsObject(schema) && isRecord(value)) return explainObject(schema, value, path)
  if (IsArray(schema) && Array.isArray(value)) return explainList(schema, value, path)
  return [{ path, message: 'is not valid', expected: expectedOf(schema) }]
}

function explainObject(schema: TObject, value: Record<string, unknown>, path: string): readonly Issue[] {
  const issues: Issue[] = []
  for (const [name, member] of Object.entries<TSchema>(schema.properties)) {
    if (Object.hasOwn(value, name)) issues.push(...explain(member, value[name], pointer(path, name)))
    else if (!IsOptional(member)) {
      issues.push({ path: pointer(path, name), message: 'is missing', expected: expectedOf(member) })
    }
  }
  if (Reflect.get(schema, 'additionalProperties') !== false) return issues
  const known = Object.keys(schema.properties)
  const expected = `one of ${known.join(', ')}`
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) issues.push({ path: pointer(path, name), message: 'is unknown', expected })
  }
  return issues
}

function explainList(schema: TArray, value: readonly unknown[], path: string): readonly Issue[] {
  const issues = value.flatMap((item, at) => explain(schema.items, item, pointer(path, at)))
  // Without a faulty item the list itself is at fault: too short, or with an item twice.
  return issues.length > 0 ? issues : [{ path, message: 'is not valid', expected: expectedOf(schema) }]
}

/** The branch of a union that takes this kind of value explains more than the union does. */
function explainUnion(schema: TUnion, value: unknown, path: string): readonly Issue[] {
  const objects = schema.anyOf.filter((shape) => IsObject(shape))
  // Only its names show which of several objects was meant.
  const isChoice = objects.length > 1 && isRecord(value)
  const named = isChoice ? objects.find((shape) => hasNamesOf(shape, value)) : undefined
  if (named !== undefined) return explain(named, value, path)
  const branches: readonly TSchema[] = isChoice ? [] : schema.anyOf
  const branch = branches.find(
    (shape) =>
      (IsObject(shape) && isRecord(value)) ||
      (IsArray(shape) && Array.isArray(value)) ||
      (IsString(shape) && typeof value === 'string'),
  )
  if (branch !== undefined && !IsString(branch)) return explain(branch, value, path)
  return [{ path, message: 'is not valid', expected: expectedOf(schema) }]
}

function hasNamesOf({ properties }: TObject, value: Record<string, unknown>): boolean {
  return (
    Object.keys(value).every((name) => Object.hasOwn(properties, name)) &&
    Object.entries<TSchema>(properties).every(([name, of]) => IsOptional(of) || Object.hasOwn(value, name))
  )
}

function expectedOf(schema: TSchema): string {
  const said: unknown = Reflect.get(schema, 'description')
  if (typeof said === 'string') return said
  if (IsString(schema)) return 'a string'
  if (IsBoolean(schema)) return 'true or false'
  return IsObject(schema) ? 'an object' : 'a number'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
