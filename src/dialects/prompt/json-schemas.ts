/** JSON schemas in the form that Anthropic accepts, for callers of other dialects. Part D, mapping table. */
import { markedNumber } from '../../schemas/values/long-integers.ts'
import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'

/** Limits that Anthropic refuses in an enforced schema. */
const LIMITS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems'],
] as const
/** The largest `minItems` that Anthropic accepts. */
const MIN_ITEMS_MAX = 1

/** Keywords whose value is a schema, a list of schemas, or an object of schemas by name. */
const ONE = ['items', 'additionalProperties', 'not', 'contains', 'if', 'then', 'else'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'] as const

/** Names that these functions drop, for metrics. */
export const SCHEMA_NAMES: readonly string[] = [...LIMITS, 'anyOf', 'oneOf', 'allOf']

/**
 * The schema with its limits in the descriptions, which the model reads, and with all objects closed.
 * @param dropped receives the names of the limits
 */
export function withinLimits(schema: Members, dropped: Set<string>): Members {
  const { properties, type, description } = schema
  const inner = (value: unknown): unknown => (isObject(value) ? withinLimits(value, dropped) : value)
  const own: Record<string, unknown> = { ...schema }
  for (const name of ONE) if (name in own) own[name] = inner(own[name])
  for (const name of LISTS) if (Array.isArray(own[name])) own[name] = (own[name] as unknown[]).map(inner)
  for (const name of NAMED)
    if (isObject(own[name]))
      own[name] = Object.fromEntries(Object.entries(own[name]).map(([key, value]) => [key, inner(value)]))
  const words: string[] = []
  for (const name of LIMITS) {
    const value = own[name]
    if (value === undefined || (name === 'minItems' && Number(value) <= MIN_ITEMS_MAX)) continue
    delete own[name]
    dropped.add(name)
    words.push(`${name}: ${JSON.stringify(markedNumber(value) ?? value)}`)
  }
  if (words.length > 0)
    own['description'] = [
      ...(typeof description === 'string' ? [description] : []),
      `{${words.join(', ')}}`,
    ].join('\n\n')
  const isOfObjects = [type].flat().includes('object') || isObject(properties)
  if (isOfObjects && own['additionalProperties'] === undefined) own['additionalProperties'] = false
  return own
}

const BRANCHES = ['anyOf', 'oneOf', 'allOf'] as const

interface Joined {
  readonly schema: Members
  /** Keywords that the schema had. */
  readonly dropped: readonly string[]
}

/**
 * The schema of a tool without alternatives at its top: it has the properties of all branches and requires
 * those that every branch requires. Null: a branch is not an object.
 */
export function joinedBranches(schema: Members): Joined | null {
  const names = BRANCHES.filter((name) => Array.isArray(schema[name]))
  if (names.length === 0) return { schema, dropped: names }
  const { anyOf: _a, oneOf: _o, allOf: _l, ...rest } = schema
  const properties = new Map<string, unknown[]>()
  addProperties(rest, properties)
  const required = requiredIn(rest)
  for (const name of names) {
    const branches = (schema[name] as readonly unknown[]).map(membersOf)
    if (!branches.every(isOfObject)) return null
    for (const branch of branches) addProperties(branch, properties)
    const each = branches.map(requiredIn)
    const [first = new Set<unknown>(), ...others] = each
    const common = name === 'allOf' ? each.flatMap((one) => [...one]) : [...first].filter(isInAll(others))
    for (const one of common) required.add(one)
  }
  return {
    dropped: names,
    schema: {
      ...rest,
      properties: Object.fromEntries([...properties].map(([name, all]) => [name, eitherOf(all)])),
      ...(required.size > 0 && { required: [...required] }),
    },
  }
}

function isOfObject({ type, properties, ...rest }: Members): boolean {
  const isPlain = BRANCHES.every((name) => rest[name] === undefined) && rest['$ref'] === undefined
  return isPlain && (type === 'object' || (type === undefined && isObject(properties)))
}

function addProperties({ properties }: Members, into: Map<string, unknown[]>): void {
  for (const [name, value] of Object.entries(membersOf(properties))) {
    const known = into.get(name)
    if (known === undefined) into.set(name, [value])
    else if (!known.some((one) => JSON.stringify(one) === JSON.stringify(value))) known.push(value)
  }
}

function eitherOf(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas }
}

function requiredIn({ required }: Members): Set<unknown> {
  return new Set(Array.isArray(required) ? required : [])
}

function isInAll(sets: readonly ReadonlySet<unknown>[]): (one: unknown) => boolean {
  return (one) => sets.every((set) => set.has(one))
}
