import type { TSchema } from 'typebox'

interface Shape {
  readonly type?: string
  readonly anyOf?: readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly patternProperties?: Readonly<Record<string, TSchema>>
  readonly additionalProperties?: boolean | TSchema
  readonly items?: TSchema
}

/** Replaces a name that is in no schema. */
const UNKNOWN_NAME = '*'
/** An index of a list; no list in a body is long enough for longer numbers. */
const INDEX = /^\d{1,6}$/

/** The names of members in the schemas; all other names in a JSON pointer are words of the caller. */
export class SchemaNames {
  readonly #names = new Set<string>()
  /** Names of members that may be lists. */
  readonly #lists = new Set<string>()

  /** @param more names without a schema, such as those of headers */
  constructor(schemas: readonly TSchema[], more: readonly string[] = []) {
    const seen = new Set<TSchema>()
    for (const schema of schemas) this.#add(schema, null, seen)
    for (const name of more) this.#names.add(name)
  }

  /** Replaces each word of the caller in a pointer by `*`. @returns the pointer and the replaced words */
  mask(path: string): { readonly pointer: string; readonly masked: readonly string[] } {
    const masked: string[] = []
    let isInList = false
    const segments = path.split('/').map((segment, nth) => {
      const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
      const isKnown = nth === 0 || this.#names.has(name) || (isInList && INDEX.test(name))
      isInList = this.#lists.has(name)
      if (isKnown) return segment
      masked.push(name.replace(/…$/, ''))
      return UNKNOWN_NAME
    })
    return { pointer: segments.join('/'), masked }
  }

  #add(schema: TSchema, name: string | null, seen: Set<TSchema>): void {
    const { type, anyOf = [], properties = {}, patternProperties = {}, items }: Shape = schema
    const { additionalProperties: others }: Shape = schema
    if (name !== null && type === 'array') this.#lists.add(name)
    // If several members share a list schema, each of their names counts as a list.
    for (const one of anyOf) this.#add(one, name, seen)
    if (seen.has(schema)) return
    seen.add(schema)
    for (const [member, inner] of Object.entries(properties)) {
      this.#names.add(member)
      this.#add(inner, member, seen)
    }
    for (const inner of Object.values(patternProperties)) this.#add(inner, null, seen)
    if (items !== undefined) this.#add(items, null, seen)
    if (typeof others === 'object') this.#add(others, null, seen)
  }
}
