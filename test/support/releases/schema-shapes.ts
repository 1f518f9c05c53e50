/**
 * JSON schemas as shapes: which kinds, values and members there are, without texts, examples and bounds.
 * Each shape is kept once, under its number.
 */

/** A schema as it stands in an OpenAPI 3.1 document. */
export type Schema = Readonly<Record<string, unknown>>

export interface ObjectShape {
  /** The member that distinguishes it from other objects in its place: `type="function"`; may be absent. */
  readonly when?: string
  /** Numbers of the shapes of its members, by name. */
  readonly members: Readonly<Record<string, number>>
  /** Members that are never left out. */
  readonly always: readonly string[]
  /** There are no other members. */
  readonly isClosed: boolean
  /** Shape of all other members; absent: anything. */
  readonly others?: number
}

export interface Shape {
  /** Kinds of JSON of which every value may stand here, sorted; `any`: all of them. */
  readonly kinds: readonly string[]
  /** Values of other kinds that may stand here, as JSON, sorted. */
  readonly values?: readonly string[]
  readonly objects?: readonly ObjectShape[]
  /** Shape of the entries of a list. */
  readonly entries?: number
}

export class Shapes {
  readonly all: Shape[] = []
  readonly #numbers = new Map<string, number>()
  readonly #resolve: (reference: string) => Schema
  /** References that are being read: one within itself is anything. */
  readonly #reading = new Set<string>()

  constructor(resolve: (reference: string) => Schema) {
    this.#resolve = resolve
  }

  /** @returns the number of its shape */
  of(schema: unknown): number {
    return this.#ofAny([schema])
  }

  /** The shape of what one of these schemas describes. */
  #ofAny(schemas: readonly unknown[]): number {
    const opened = new Set<string>()
    const found = schemas.flatMap((schema) => this.#alternatives(schema, opened))
    const shape = this.#shapeOf(found)
    for (const reference of opened) this.#reading.delete(reference)
    return this.#kept(shape)
  }

  /** Schemas without `anyOf`, `oneOf`, `allOf` and `$ref`, one of which holds. */
  #alternatives(schema: unknown, opened: Set<string>): readonly Schema[] {
    // `true` and what has no schema: anything.
    if (!isRecord(schema)) return [{}]
    const { $ref: reference, anyOf, oneOf, allOf, ...own } = schema
    if (typeof reference === 'string') {
      if (this.#reading.has(reference) && !opened.has(reference)) return [{}]
      this.#reading.add(reference)
      opened.add(reference)
      return this.#alternatives(this.#resolve(reference), opened)
    }
    const choices = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? [list as unknown[]] : []))
    const parts = Array.isArray(allOf) ? (allOf as unknown[]) : []
    let found: readonly Schema[] = [own]
    for (const list of [...choices, ...parts.map((part) => [part])]) {
      const next = list.flatMap((one) => this.#alternatives(one, opened))
      found = found.flatMap((one) => next.map((other) => joined(one, other)))
    }
    return found
  }

  #shapeOf(alternatives: readonly Schema[]): Shape {
    const open = new Set<string>()
    const values = new Set<string>()
    for (const one of alternatives) {
      const only = valuesOf(one)
      if (only === null) for (const kind of kindsOf(one)) open.add(kind)
      else for (const value of only) values.add(JSON.stringify(value))
    }
    const kinds = open.has('any') ? ['any'] : [...open].sort()
    const others = [...values].filter((value) => !isOfKinds(value, kinds)).sort()
    const objects = this.#objectsOf(alternatives.filter(isObject))
    const entries = alternatives.flatMap(entriesOf)
    return {
      kinds,
      ...(others.length > 0 && { values: others }),
      ...(objects.length > 0 && { objects }),
      ...(entries.length > 0 && { entries: this.#ofAny(entries) }),
    }
  }

  /** Objects that a member distinguishes stand side by side; others are one, with the members of all. */
  #objectsOf(objects: readonly Schema[]): readonly ObjectShape[] {
    const by = discriminatorOf(objects)
    const groups = new Map<string, Schema[]>()
    for (const one of objects) {
      const values = by === null ? null : valuesOf(membersOf(one)[by])
      const when = values === null ? '' : `${by}=${values.map((value) => JSON.stringify(value)).join('|')}`
      groups.set(when, [...(groups.get(when) ?? []), one])
    }
    return [...groups].map(([when, group]) => ({ ...(when !== '' && { when }), ...this.#objectOf(group) }))
  }

  #objectOf(group: readonly Schema[]): ObjectShape {
    const names = [...new Set(group.flatMap((one) => Object.keys(membersOf(one))))].sort()
    const others = group.flatMap(othersOf)
    return {
      members: Object.fromEntries(
        names.map((name) => [
          name,
          this.#ofAny(group.flatMap((one) => (name in membersOf(one) ? [membersOf(one)[name]] : []))),
        ]),
      ),
      always: names.filter((name) => group.every((one) => requiredOf(one).includes(name))),
      isClosed: group.every(({ additionalProperties }) => additionalProperties === false),
      ...(others.length > 0 && { others: this.#ofAny(others) }),
    }
  }

  #kept(shape: Shape): number {
    const text = JSON.stringify(shape)
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.all.length)
    return this.all.push(shape) - 1
  }
}

/** Whether a value, as JSON, is of one of the kinds. */
export function isOfKinds(value: string, kinds: readonly string[]): boolean {
  const parsed: unknown = JSON.parse(value)
  const kind = parsed === null ? 'null' : Array.isArray(parsed) ? 'array' : typeof parsed
  return kinds.some((one) => one === 'any' || one === kind || (one === 'integer' && Number.isInteger(parsed)))
}

/** Both hold: members and required names of both. */
function joined(one: Schema, other: Schema): Schema {
  const required = [...requiredOf(one), ...requiredOf(other)]
  const properties = { ...membersOf(one), ...membersOf(other) }
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** Null: it is not held to single values. */
function valuesOf(schema: unknown): readonly unknown[] | null {
  if (!isRecord(schema)) return null
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : null
}

function kindsOf(schema: Schema): readonly string[] {
  const { type } = schema
  if (Array.isArray(type)) return type.map(String)
  if (typeof type === 'string') return [type]
  return 'properties' in schema || 'patternProperties' in schema ? ['object'] : ['any']
}

function isObject(schema: Schema): boolean {
  return kindsOf(schema).includes('object')
}

function membersOf(schema: Schema): Schema {
  const { properties } = schema
  return isRecord(properties) ? properties : {}
}

function requiredOf({ required }: Schema): readonly string[] {
  return Array.isArray(required) ? required.map(String) : []
}

/** Schemas of members whose names are not known. */
function othersOf({ additionalProperties, patternProperties }: Schema): readonly Schema[] {
  const byPattern = isRecord(patternProperties) ? Object.values(patternProperties) : []
  return [additionalProperties, ...byPattern].filter(isRecord)
}

function entriesOf({ items, prefixItems }: Schema): readonly unknown[] {
  return [
    ...(Array.isArray(prefixItems) ? (prefixItems as unknown[]) : []),
    ...(isRecord(items) ? [items] : []),
  ]
}

/** The member that has values of its own in most of the objects; null: no two have one. */
function discriminatorOf(objects: readonly Schema[]): string | null {
  if (objects.length < 2) return null
  const counts = new Map<string, number>()
  for (const one of objects)
    for (const [name, member] of Object.entries(membersOf(one)))
      if (valuesOf(member) !== null) counts.set(name, (counts.get(name) ?? 0) + 1)
  const [best] = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1])
  return best?.[0] ?? null
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
