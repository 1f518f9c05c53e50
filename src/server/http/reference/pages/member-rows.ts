import { descriptionOf, isObject } from '../members/described.ts'
import type { Json } from '../openapi-json.ts'

/** A member of a body or an answer, or a parameter, as a row of a table. */
export interface MemberRow {
  /** Path from the top: `choices[].message.content`. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  readonly text: string
}

/** Levels of members that are shown; deeper ones are in the OpenAPI document. */
const LEVELS_MAX = 4
/** Values of an enumeration that are shown. */
const VALUES_MAX = 16

/** All members of a schema, the outer before the inner. @param root what references of the schema lead into */
export function memberRows(schema: unknown, root: Json, path = '', level = 1): readonly MemberRow[] {
  const shape = resolved(schema, root)
  if (level > LEVELS_MAX || !isObject(shape)) return []
  if (Array.isArray(shape['anyOf'])) return merged(shape['anyOf'], root, path, level)
  if (isObject(shape['items'])) return memberRows(shape['items'], root, `${path}[]`, level)
  if (!isObject(shape['properties'])) return []
  const required: readonly unknown[] = Array.isArray(shape['required']) ? shape['required'] : []
  return Object.entries(shape['properties']).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [
      {
        path: at,
        type: typeText(member, root),
        isRequired: required.includes(name),
        text: descriptionOf(resolved(member, root)) ?? '',
      },
      ...memberRows(member, root, at, level + 1),
    ]
  })
}

/** Members of alternatives: each path once, required where each alternative that has members requires it. */
function merged(
  alternatives: readonly unknown[],
  root: Json,
  path: string,
  level: number,
): readonly MemberRow[] {
  const lists = alternatives
    .map((one) => memberRows(one, root, path, level))
    .filter(({ length }) => length > 0)
  const rows = new Map<string, MemberRow>()
  for (const row of lists.flat()) {
    const known = rows.get(row.path)
    const type =
      known === undefined ? row.type : joined([...known.type.split(' | '), ...row.type.split(' | ')])
    const isRequired = lists.every((list) => list.some((one) => one.path === row.path && one.isRequired))
    rows.set(row.path, { ...(known ?? row), type, isRequired })
  }
  return [...rows.values()]
}

/** What values a schema takes, in words. */
export function typeText(schema: unknown, root: Json): string {
  const shape = resolved(schema, root)
  if (!isObject(shape)) return 'any'
  if ('const' in shape) return JSON.stringify(shape['const'])
  if (Array.isArray(shape['enum'])) return joined(shape['enum'].map((value) => JSON.stringify(value)))
  if (Array.isArray(shape['anyOf'])) return joined(shape['anyOf'].map((one) => typeText(one, root)))
  const { type, format } = shape
  if (type === 'array') return `array of ${typeText(shape['items'], root)}`
  if (typeof type !== 'string') return 'any'
  return `${type}${typeof format === 'string' ? ` (${format})` : ''}${boundsText(shape)}`
}

function boundsText({ minimum, maximum, minLength, maxLength }: Json): string {
  const [least, most, unit] =
    minLength === undefined && maxLength === undefined
      ? [minimum, maximum, '']
      : [minLength, maxLength, ' characters']
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `, at least ${String(least)}${unit}`
  return least === undefined || (least === 0 && unit !== '')
    ? `, at most ${String(most)}${unit}`
    : `, ${String(least)} to ${String(most)}${unit}`
}

function joined(words: readonly string[]): string {
  const all = [...new Set(words)]
  return all.length <= VALUES_MAX ? all.join(' | ') : [...all.slice(0, VALUES_MAX), '…'].join(' | ')
}

/** Follows references inside the document. */
export function resolved(schema: unknown, root: Json): unknown {
  if (!isObject(schema) || typeof schema['$ref'] !== 'string') return schema
  const found = schema['$ref']
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), root)
  return resolved(found, root)
}
