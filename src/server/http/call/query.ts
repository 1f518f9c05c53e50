import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { issuesOf } from '../../../schemas/issues.ts'

/** Reads texts of a URL into a validated value; compiled once for each operation. */
export interface UrlReader {
  /** @param texts decoded texts by name, one for each occurrence of the name */
  read(texts: ReadonlyMap<string, readonly string[]>): Outcome<unknown>
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i
/** Plain decimal digits: clients write a count or a size without exponent and fraction. */
const INTEGER = /^-?\d+$/

interface Member {
  readonly name: string
  readonly schema: TSchema
}

/**
 * Reader for path or query parameters. A text becomes a number or a boolean where the schema requires one.
 * Each parameter occurs once, and a list is one text with commas, unless the schema has an array:
 * `ids=a&ids=b` or `ids[]=a&ids[]=b`, each id once in the value. Parameters that the schema does not name are
 * ignored.
 * @param failure the answer to a refused value
 */
export function compileUrlReader(schema: TSchema, failure: 'params_invalid' | 'query_invalid'): UrlReader {
  const { properties } = schema as { properties?: Record<string, TSchema> }
  const members: Member[] = Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
  }))
  const validator = Compile<TSchema>(schema)
  const refuse = (issues: readonly Issue[]): Outcome<never> => fail(failure, { metadata: { issues } })
  return {
    read(texts) {
      const value: Record<string, unknown> = {}
      for (const { name, schema: member } of members) {
        if (kindsOf(member).has('array')) {
          const all = new Set([...(texts.get(name) ?? []), ...(texts.get(`${name}[]`) ?? [])])
          if (all.size > 0) value[name] = [...all]
          continue
        }
        const given = texts.get(name)
        const first = given?.[0]
        if (given === undefined || first === undefined) continue
        if (given.length === 1) value[name] = coerced(member, first)
        else return refuse([{ path: `/${name}`, message: 'is repeated', expected: 'one value' }])
      }
      return validator.Check(value)
        ? ok(value)
        : refuse(issuesOf(schema, value).map((issue) => reworded(issue, properties, value)))
    },
  }
}

/** Splits and decodes a query string; null when an escape in it is not UTF-8. */
export function parseQuery(query: string): ReadonlyMap<string, readonly string[]> | null {
  const texts = new Map<string, string[]>()
  for (const pair of query === '' ? [] : query.split('&')) {
    const cut = pair.indexOf('=')
    const name = decoded(cut < 0 ? pair : pair.slice(0, cut))
    const text = cut < 0 ? '' : decoded(pair.slice(cut + 1))
    if (name === null || text === null) return null
    const given = texts.get(name)
    if (given === undefined) texts.set(name, [text])
    else given.push(text)
  }
  return texts
}

/** Null when an escape is invalid. */
export function decodedSegment(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function decoded(text: string): string | null {
  return decodedSegment(text.replaceAll('+', ' '))
}

/** A text that cannot be converted to the schema's type stays a text; the validator then reports the issue. */
function coerced(schema: TSchema, text: string): unknown {
  const kinds = kindsOf(schema)
  if (kinds.has('integer') && INTEGER.test(text)) return Number(text)
  if (kinds.has('number') && NUMBER.test(text)) return Number(text)
  if (kinds.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** Rewords an issue that expects a string: every parameter is a text, so that this would not help. */
function reworded(
  issue: Issue,
  members: Readonly<Record<string, TSchema>> = {},
  value: Readonly<Record<string, unknown>>,
): Issue {
  const name = issue.path.slice(1)
  const schema = members[name]
  const text = value[name]
  if (schema === undefined || typeof text !== 'string') return issue
  if (text === '') return { ...issue, message: 'is empty' }
  const kinds = kindsOf(schema)
  if (kinds.has('string')) return issue
  if (kinds.has('integer') && NUMBER.test(text))
    return { ...issue, message: 'is not a whole number in decimal digits' }
  if (kinds.has('integer') || kinds.has('number')) return { ...issue, message: 'is not a number' }
  return kinds.has('boolean') ? { ...issue, message: 'is not a boolean' } : issue
}

function kindsOf(schema: TSchema): ReadonlySet<string> {
  const { anyOf, type } = schema as { anyOf?: readonly TSchema[]; type?: string }
  if (anyOf !== undefined) return new Set(anyOf.flatMap((branch) => [...kindsOf(branch)]))
  return new Set(type === undefined ? [] : [type])
}
