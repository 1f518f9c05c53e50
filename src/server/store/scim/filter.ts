import { ok, type Outcome } from '../../../schemas/failures.ts'
import {
  NOT_WELL_FORMED,
  parsedFilter,
  refusedFilter as refuse,
  type Filter,
} from '../../../schemas/scim/scim-filters.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'

export type Comparison = Extract<Filter, { readonly compValue: unknown }>
export type Operator = Comparison['op'] | 'pr'
export type Literal = Comparison['compValue']

/** A comparison of one attribute; when its SQL is null, the comparison is false. */
export interface FilterTerm {
  readonly op: Operator
  /** Null for `pr` too. */
  readonly value: Literal
}

/** @returns null for an operator or a value that the attribute does not support */
export type TermToSql = (sql: Queryable, term: FilterTerm) => Fragment | null

/** An attribute with several values. */
export interface Several {
  /** Wraps a condition on one value. */
  some(sql: Queryable, condition: Fragment): Fragment
  readonly of: ReadonlyMap<string, TermToSql>
}

/** Attributes by name in lower case, without the resource's own schema. */
export interface FilterAttributes {
  readonly schema: string
  readonly single: ReadonlyMap<string, TermToSql>
  readonly several: ReadonlyMap<string, Several>
}

/** Builds the SQL of a condition for each statement that needs it. */
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
      return joined(
        filter.op,
        filter.filters.map((part) => walk(part, find, pathed)),
      )
    case 'not': {
      const inner = walk(filter.filter, find, pathed)
      return inner.ok ? ok((sql) => sql`NOT coalesce(${inner.value(sql)}, FALSE)`) : inner
    }
    case '[]':
      return pathed(filter.attrPath, filter.valFilter)
    case 'pr':
      return find(filter.attrPath, { op: 'pr', value: null })
    case 'eq':
    case 'ne':
    case 'co':
    case 'sw':
    case 'ew':
    case 'gt':
    case 'lt':
    case 'ge':
    case 'le':
      return find(filter.attrPath, { op: filter.op, value: filter.compValue })
    default:
      // For the parser, the name of any inherited member of objects is a logical operator.
      return refuse(NOT_WELL_FORMED)
  }
}

function joined(op: 'and' | 'or', parts: readonly Outcome<Condition>[]): Outcome<Condition> {
  const conditions: Condition[] = []
  for (const part of parts) {
    if (!part.ok) return part
    conditions.push(part.value)
  }
  return ok((sql) =>
    conditions
      .map((condition) => condition(sql))
      .reduce((left, right) => (op === 'and' ? sql`(${left} AND ${right})` : sql`(${left} OR ${right})`)),
  )
}

function wrapped({ some }: Several, inner: Outcome<Condition>): Outcome<Condition> {
  return inner.ok ? ok((sql) => some(sql, inner.value(sql))) : inner
}

/** Builds the term once in advance, so that an invalid filter is refused before any statement runs. */
function termOf(toSql: TermToSql, path: string, term: FilterTerm): Outcome<Condition> {
  const { op, value } = term
  if (typeof value === 'string' && value.includes('\0'))
    return refuse('A value in the filter contains the character U+0000.')
  const isTest = op !== 'pr' && value === null
  if (isTest && op !== 'eq' && op !== 'ne') return unfit(path, op)
  const tested: FilterTerm = isTest ? { op: 'pr', value: null } : term
  if (toSql(PROBE, tested) === null) return unfit(path, op)
  const made = (sql: Queryable): Fragment => toSql(sql, tested) ?? sql`FALSE`
  return ok(isTest && op === 'eq' ? (sql) => sql`NOT coalesce(${made(sql)}, FALSE)` : made)
}

/** Builds fragments without a connection. */
const PROBE = (() => ({})) as unknown as Queryable

function unknownAttribute(path: string): Outcome<never> {
  return refuse(`The filter uses an attribute that cannot be filtered by: ${path}.`)
}

function unfit(path: string, op: string): Outcome<never> {
  return refuse(`The attribute ${path} does not support this operator with this value: ${op}.`)
}
