/**
 * The shape of what a client sends: names, types and order of members, lengths of texts, and the words of the
 * API. No text of the client's maker, of its user or of its machine is in it.
 */
import { isObject, type Members } from '../../../../src/schemas/values/members.ts'

/** Stands for a text of so many UTF-16 units. */
export const TEXT = '~text'
/** Stands for so many characters of base64 after a head: `data:image/png;base64,`, or the prefix of an id. */
export const BASE64 = '~base64'
/** Stands for JSON that the model chose. */
export const ANY = '~any'

/** Members whose values are words of the API. */
const WORDED: ReadonlySet<string> = new Set([
  ...[
    'type',
    'role',
    'ttl',
    'scope',
    'effort',
    'summary',
    'status',
    'phase',
    'syntax',
    'media_type',
    'display',
  ],
  ...[
    'truncation',
    'verbosity',
    'service_tier',
    'tool_choice',
    'detail',
    'keep',
    'include',
    'execution',
    'mode',
  ],
  ...['search_content_types', 'output_format', 'context', 'format'],
])
const WORD = /^[a-z][a-z0-9_./-]{0,63}$/i
const SCHEMAS: ReadonlySet<string> = new Set(['input_schema', 'parameters', 'schema'])
/** Tools that have a name of their own; all others are the API's. */
const NAMED_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom', 'namespace'])
const IDS: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_use_id'])
const PREFIX = /^[a-z]{2,8}_/
const DATA_URL = /^data:[a-z]+\/[a-z0-9.+-]+;base64,/
const BASE64_ONLY = /^[A-Za-z0-9+/]{64,}={0,2}$/

export class Neutral {
  readonly #names = new Map<string, string>()

  /** @param member name of the member whose value it is */
  shapeOf(value: unknown, member = ''): unknown {
    if (typeof value === 'string') return textShape(value, member)
    if (Array.isArray(value)) return value.map((one) => this.shapeOf(one, member))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.#member(name, one, value)]),
    )
  }

  #member(name: string, value: unknown, object: Members): unknown {
    if (name === 'name' && typeof value === 'string') return this.#nameOf(value, object)
    if (name === 'model' && typeof value === 'string') return 'model'
    if (SCHEMAS.has(name) && isObject(value)) return new NeutralSchema().shapeOf(value)
    if (name === 'input' && object['type'] === 'tool_use') return { [ANY]: JSON.stringify(value).length }
    return this.shapeOf(value, name)
  }

  #nameOf(name: string, { type }: Members): unknown {
    const isOwn = NAMED_TOOLS.has(type) || /_call$|^tool_use$/.test(String(type))
    if (!isOwn) return textShape(name, 'type')
    const known = this.#names.get(name) ?? `tool_${this.#names.size}`
    this.#names.set(name, known)
    return known
  }
}

function textShape(text: string, member: string): unknown {
  if (WORDED.has(member) && WORD.test(text)) return text
  const begin = IDS.has(member)
    ? (PREFIX.exec(text)?.[0] ?? '')
    : (DATA_URL.exec(text)?.[0] ?? (member === 'data' && BASE64_ONLY.test(text) ? '' : null))
  return begin === null ? { [TEXT]: text.length } : { [BASE64]: text.length - begin.length, begin }
}

/** Keywords whose values are schemas by names, which are the tool's own. */
const BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties'])
/** Keywords whose values are the schema language's own. */
const LITERAL: ReadonlySet<string> = new Set(['type', 'format', '$schema'])
const NESTED: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'not', 'additionalProperties', 'propertyNames'],
])
const REF = /^#\/(\$defs|definitions)\//

/** The schema of the arguments of one tool. */
class NeutralSchema {
  readonly #names = new Map<string, string>()

  shapeOf(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((one) => this.shapeOf(one))
    if (!isObject(schema)) return schema
    return Object.fromEntries(Object.entries(schema).map(([name, one]) => [name, this.#keyword(name, one)]))
  }

  #keyword(name: string, value: unknown): unknown {
    if (LITERAL.has(name)) return value
    if (NESTED.has(name)) return this.shapeOf(value)
    if (BY_NAME.has(name) && isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([member, schema]) => [this.#nameOf(member), this.shapeOf(schema)]),
      )
    if (name === 'required' && Array.isArray(value)) return value.map((one) => this.#nameOf(String(one)))
    if (name === 'enum' && Array.isArray(value))
      return value.map((one, nth) => (typeof one === 'string' ? `value_${nth}` : one))
    if (name === '$ref' && typeof value === 'string') return this.#refOf(value)
    if (name === 'pattern') return '.*'
    return literalShape(value)
  }

  #nameOf(name: string): string {
    const known = this.#names.get(name) ?? `member_${this.#names.size}`
    this.#names.set(name, known)
    return known
  }

  #refOf(ref: string): string {
    const begin = REF.exec(ref)?.[0] ?? ''
    return begin + this.#nameOf(ref.slice(begin.length))
  }
}

/** Numbers and truths as they are, texts by their lengths. */
function literalShape(value: unknown): unknown {
  if (typeof value === 'string') return { [TEXT]: value.length }
  if (Array.isArray(value)) return value.map(literalShape)
  return isObject(value) ? {} : value
}

const FILLER = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor '

/** A value of this shape. */
export function filled(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.map(filled)
  if (!isObject(shape)) return shape
  const { [TEXT]: length, [BASE64]: chars, begin } = shape
  if (typeof length === 'number') return FILLER.repeat(Math.ceil(length / FILLER.length)).slice(0, length)
  if (typeof chars === 'number') return `${String(begin)}${'A'.repeat(chars)}`
  return Object.fromEntries(Object.entries(shape).map(([name, one]) => [name, filled(one)]))
}

/** The members of the shape, with the values that there are, and fillers for the others. */
export function projected(value: unknown, shape: unknown): unknown {
  if (value === undefined) return filled(shape)
  if (Array.isArray(shape) && Array.isArray(value) && shape.length > 0)
    return value.map((one: unknown) => projected(one, shape[0]))
  if (!isObject(shape) || !isObject(value) || TEXT in shape || BASE64 in shape || ANY in shape) return value
  return Object.fromEntries(Object.keys(shape).map((name) => [name, projected(value[name], shape[name])]))
}
