import { parse, type Filter } from 'scim2-parse-filter'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { SCIM_FILTER_CHARS_MAX, SCIM_FILTER_NESTING_MAX, SCIM_FILTER_TERMS_MAX } from '../../../schemas/scim-resource-limits.ts'
import type { Fragment } from '../guarded-row.ts'
import type { Queryable } from '../open.ts'

export type Comparison = Extract<Filter, { readonly compValue: unknown }>
export type Operator = Comparison['op'] | 'pr'
export type Literal = Comparison['compValue']

/** What a filter may ask of one attribute; where its SQL is null it does not hold. */
export interface FilterTerm {
  readonly op: Operator
  /** Null for `pr` too. */
  readonly value: Literal
}

/** @returns null for an operator or a value that the attribute does not take */
export type TermToSql = (sql: Queryable, term: FilterTerm) => Fragment | null

/** An attribute that has several values. */
export interface Several {
  /** Wraps a condition on one value. */
  some(sql: Queryable, condition: Fragment): Fragment
  readonly of: ReadonlyMap<string, TermToSql>
}

/** By the attribute's name in lower case, without the resource's own schema. */
export interface FilterAttributes {
  readonly schema: string
  readonly single: ReadonlyMap<string, TermToSql>
  readonly several: ReadonlyMap<string, Several>
}

/** Turned into SQL as often as a statement needs it. */
export type Condition = (sql: Queryable) => Fragment

/**
 * Parses a filter into a condition whose values are parameters.
 * Failure: scim_filter_invalid, which names an unknown attribute. RFC 7644 §3.4.2.2.
 */
export function conditionOf(filter: string | null, attributes: FilterAttributes): Outcome<Condition> {
  if (filter === null) return ok((sql) => sql`TRUE`)
  const parsed = parsedFilter(filter)
  return parsed.ok ? translated(parsed.value, attributes) : parsed
}

const CONTROL = /[\u0000-\u001f\u007f]/
const LITERAL = /"(?:[^"\\]|\\.)*"/g
const NESTING = /[([]|\bnot\b/gi

/** The parser sees the number of each literal in its place: it would double what escapes and, in one that is open, its time. */
function parsedFilter(filter: string): Outcome<Filter> {
  if (filter.length > SCIM_FILTER_CHARS_MAX) return refuse(`It has more than ${SCIM_FILTER_CHARS_MAX} characters.`)
  if (CONTROL.test(filter)) return refuse('It has a control character.')
  const literals: string[] = []
  const bare = filter.replaceAll(LITERAL, (literal) => `"${literals.push(textOf(literal)) - 1}"`)
  if (bare.split('"').length !== literals.length * 2 + 1) return refuse('It has a literal without its end.')
  if ((bare.match(NESTING)?.length ?? 0) > SCIM_FILTER_NESTING_MAX) return refuse(`It nests deeper than ${SCIM_FILTER_NESTING_MAX} levels.`)
  try {
    const parsed = parse(bare)
    return termsOf(parsed) > SCIM_FILTER_TERMS_MAX ? refuse(`It has more than ${SCIM_FILTER_TERMS_MAX} comparisons.`) : ok(restored(parsed, literals))
  } catch {
    return refuse('It is not well-formed.')
  }
}

/** A literal is JSON; some send the backslash of `DOMAIN\user` as it is. */
function textOf(literal: string): string {
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal.slice(1, -1).replaceAll(/\\(["\\])/g, '$1')
  }
}

function restored(filter: Filter, literals: readonly string[]): Filter {
  if ('filters' in filter) return { ...filter, filters: filter.filters.map((part) => restored(part, literals)) }
  if ('filter' in filter) return { ...filter, filter: restored(filter.filter, literals) }
  if ('valFilter' in filter) return { ...filter, valFilter: restored(filter.valFilter, literals) }
  if (!('compValue' in filter) || typeof filter.compValue !== 'string') return filter
  return { ...filter, compValue: literals[Number(filter.compValue)] ?? '' }
}

function termsOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + termsOf(part), 0)
  if ('filter' in filter) return termsOf(filter.filter)
  return 'valFilter' in filter ? termsOf(filter.valFilter) : 1
}

type FindTerm = (name: string, term: FilterTerm) => Outcome<Condition>

function translated(filter: Filter, attributes: FilterAttributes): Outcome<Condition> {
  const { schema, single, several } = attributes
  const nameOf = (path: string): string => {
    const name = path.toLowerCase()
    const prefix = `${schema.toLowerCase()}:`
    return name.startsWith(prefix) ? name.slice(prefix.length) : name
  }
  const find: FindTerm = (path, term) => {
    const name = nameOf(path)
    const own = single.get(name)
    if (own !== undefined) return termOf(own, path, term)
    const cut = name.lastIndexOf('.')
    const [parent, sub] = cut < 0 ? [name, 'value'] : [name.slice(0, cut), name.slice(cut + 1)]
    const values = several.get(parent)
    const member = values?.of.get(sub)
    if (values === undefined || member === undefined) return unknownAttribute(path)
    return wrapped(values, termOf(member, path, term))
  }
  const pathed = (path: string, inner: Filter): Outcome<Condition> => {
    const values = several.get(nameOf(path))
    if (values === undefined) return unknownAttribute(path)
    const within: FindTerm = (name, term) => {
      const member = values.of.get(name.toLowerCase())
      return member === undefined ? unknownAttribute(`${path}.${name}`) : termOf(member, name, term)
    }
    return wrapped(values, walk(inner, within, unknownPath))
  }
  return walk(filter, find, pathed)
}

type FindPath = (path: string, inner: Filter) => Outcome<Condition>
const unknownPath: FindPath = (path) => unknownAttribute(path)

function walk(filter: Filter, find: FindTerm, pathed: FindPath): Outcome<Condition> {
  switch (filter.op) {
    case 'and':
    case 'or':
      return joined(filter.op, filter.filters.map((part) => walk(part, find, pathed)))
    case 'not': {
      const inner = walk(filter.filter, find, pathed)
      return inner.ok ? ok((sql) => sql`NOT coalesce(${inner.value(sql)}, FALSE)`) : inner
    }
    case '[]':
      return pathed(filter.attrPath, filter.valFilter)
    case 'pr':
      return find(filter.attrPath, { op: 'pr', value: null })
    case 'eq': case 'ne': case 'co': case 'sw': case 'ew': case 'gt': case 'lt': case 'ge': case 'le':
      return find(filter.attrPath, { op: filter.op, value: filter.compValue })
    default:
      // The parser takes any name that objects inherit for a joining word.
      return refuse('It is not well-formed.')
  }
}

function joined(op: 'and' | 'or', parts: readonly Outcome<Condition>[]): Outcome<Condition> {
  const conditions: Condition[] = []
  for (const part of parts) {
    if (!part.ok) return part
    conditions.push(part.value)
  }
  return ok((sql) => conditions.map((condition) => condition(sql))
    .reduce((left, right) => (op === 'and' ? sql`(${left} AND ${right})` : sql`(${left} OR ${right})`)))
}

function wrapped({ some }: Several, inner: Outcome<Condition>): Outcome<Condition> {
  return inner.ok ? ok((sql) => some(sql, inner.value(sql))) : inner
}

/** Asked once ahead, so that a refusal is no matter of statements. */
function termOf(toSql: TermToSql, path: string, term: FilterTerm): Outcome<Condition> {
  const { op, value } = term
  if (typeof value === 'string' && value.includes('\0')) return refuse('A value of it has the character U+0000.')
  const isTest = op !== 'pr' && value === null
  if (isTest && op !== 'eq' && op !== 'ne') return unfit(path, op)
  const asked: FilterTerm = isTest ? { op: 'pr', value: null } : term
  if (toSql(PROBE, asked) === null) return unfit(path, op)
  const made = (sql: Queryable): Fragment => toSql(sql, asked) ?? sql`FALSE`
  return ok(isTest && op === 'eq' ? (sql) => sql`NOT coalesce(${made(sql)}, FALSE)` : made)
}

/** Makes fragments of nothing. */
const PROBE = (() => ({})) as unknown as Queryable

function unknownAttribute(path: string): Outcome<never> {
  return refuse(`It names an attribute that cannot be filtered by: ${path}.`)
}

function unfit(path: string, op: string): Outcome<never> {
  return refuse(`The attribute ${path} does not take this operator with this value: ${op}.`)
}

function refuse(detail: string): Outcome<never> {
  return fail('scim_filter_invalid', { detail })
}
