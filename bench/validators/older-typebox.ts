/**
 * The product's shapes in the form of `@sinclair/typebox` 0.34, whose compiler reads marks of its own beside
 * the JSON Schema.
 */
import { FormatRegistry, Type, type TSchema } from '@sinclair/typebox'
import Format from 'typebox/format'

/** The part of JSON Schema that the shapes use. */
interface Shape {
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly const?: string | number | boolean
  readonly enum?: readonly (string | number)[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Shape
  readonly propertyNames?: Shape
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
}

/** Keywords that both versions read in the same place. */
const BOUNDS = [
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'uniqueItems',
  'multipleOf',
  'format',
]
/** Keywords that check nothing. */
const WORDS = ['title', 'description', 'default', 'examples', 'writeOnly']
/** Keywords that the conversion reads. */
const READ = [
  ...BOUNDS,
  ...WORDS,
  'type',
  'anyOf',
  'const',
  'enum',
  'items',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
]

/** Converts a schema. Throws on an unknown keyword: a missing check would make an unintended difference. */
export function olderTypebox(schema: object): TSchema {
  const shape: Shape = schema
  const unknown = Object.keys(shape).find((name) => !READ.includes(name) && !name.startsWith('~'))
  if (unknown !== undefined) throw new Error(`no 0.34 form of the keyword '${unknown}'`)
  const { format } = shape
  // 0.34 has no formats and refuses every text with an unregistered one.
  if (format !== undefined) FormatRegistry.Set(format, (text) => Format.Test(format, text))
  const bounds = Object.fromEntries(Object.entries(shape).filter(([name]) => BOUNDS.includes(name)))
  if (shape.anyOf !== undefined) return Type.Union(shape.anyOf.map(olderTypebox), bounds)
  if (shape.const !== undefined) return Type.Literal(shape.const)
  if (shape.enum !== undefined) return Type.Union(shape.enum.map((word) => Type.Literal(word)))
  switch (shape.type) {
    case 'string':
      return Type.String(bounds)
    case 'integer':
      return Type.Integer(bounds)
    case 'number':
      return Type.Number(bounds)
    case 'boolean':
      return Type.Boolean()
    case 'null':
      return Type.Null()
    case 'array':
      return Type.Array(olderTypebox(shape.items ?? {}), bounds)
    case 'object':
      return objectOf(shape, bounds)
    case undefined:
      return Type.Unknown()
    default:
      throw new Error(`no 0.34 form of the type '${shape.type}'`)
  }
}

function objectOf(shape: Shape, bounds: object): TSchema {
  const { properties = {}, required = [], additionalProperties, propertyNames } = shape
  if (propertyNames !== undefined) return recordOf(propertyNames, additionalProperties, bounds)
  const members = Object.entries(properties).map(([name, member]) => {
    const type = olderTypebox(member)
    return [name, required.includes(name) ? type : Type.Optional(type)] as const
  })
  const others =
    typeof additionalProperties === 'object' ? olderTypebox(additionalProperties) : additionalProperties
  return Type.Object(Object.fromEntries(members), {
    ...bounds,
    ...(others !== undefined && { additionalProperties: others }),
  })
}

/** A record: 0.34 has no `propertyNames`, which a pattern over all keys replaces. */
function recordOf(
  { maxLength, pattern = '^' }: Shape,
  values: Shape['additionalProperties'],
  bounds: object,
): TSchema {
  const length = maxLength === undefined ? '' : `(?=[\\s\\S]{0,${maxLength}}$)`
  const keys = Type.String({ pattern: `^${length}${pattern.replace(/^\^/, '')}` })
  return Type.Record(keys, olderTypebox(typeof values === 'object' ? values : {}), {
    ...bounds,
    additionalProperties: false,
  })
}
