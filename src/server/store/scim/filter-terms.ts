import { booleanOf } from '../../../schemas/scim/scim-attributes.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { isId } from '../base/ids.ts'
import type { Queryable } from '../base/open.ts'
import type { FilterTerm, TermToSql } from './filter.ts'

type Column = (sql: Queryable) => Fragment

/** A text compared without case. */
export function caseless(column: Column): TermToSql {
  return text(
    (sql) => sql`lower(${column(sql)})`,
    (sql, value) => sql`lower(${value})`,
  )
}

export function exact(column: Column): TermToSql {
  return text(column, (sql, value) => sql`${value}::text`)
}

/** An id; a text that is no id matches no row. */
export function id(column: Column): TermToSql {
  const asText = text(
    (sql) => sql`${column(sql)}::text`,
    (sql, value) => sql`${value}::text`,
  )
  return (sql, term) => {
    const { op, value } = term
    // Compares the column itself, so that its index is used.
    if (op === 'eq' && typeof value === 'string')
      return isId(value) ? sql`${column(sql)} = ${value}::uuid` : sql`FALSE`
    return asText(sql, term)
  }
}

export function flag(column: Column): TermToSql {
  return (sql, { op, value }) => {
    if (op === 'pr') return sql`(${column(sql)}) IS NOT NULL`
    const wanted = booleanOf(value)
    if (wanted === undefined || (op !== 'eq' && op !== 'ne')) return null
    return ordered(sql, op, column(sql), sql`${wanted}::boolean`)
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** An instant compared to the millisecond, as resources show it. */
export function instant(column: Column): TermToSql {
  return (sql, { op, value }) => {
    if (op === 'pr') return sql`TRUE`
    if (typeof value !== 'string' || !INSTANT.test(value) || Number.isNaN(Date.parse(value))) return null
    const iso = new Date(value).toISOString()
    // Postgres' calendar has no year 0, and it accepts neither earlier years nor years of five digits in this
    // form.
    if (!/^(?!0000)\d{4}-/.test(iso)) return null
    const [at, wanted] = [sql`date_trunc('milliseconds', ${column(sql)})`, sql`${iso}::timestamptz`]
    return ordered(sql, op, at, wanted)
  }
}

function text(column: Column, wantedOf: (sql: Queryable, value: string) => Fragment): TermToSql {
  return (sql, { op, value }) => {
    const at = column(sql)
    if (op === 'pr') return sql`${at} <> ''`
    if (typeof value !== 'string') return null
    const wanted = wantedOf(sql, value)
    switch (op) {
      case 'co':
        return sql`strpos(${at}, ${wanted}) > 0`
      case 'sw':
        return sql`starts_with(${at}, ${wanted})`
      case 'ew':
        return sql`right(${at}, length(${wanted})) = ${wanted}`
      case 'eq':
      case 'ne':
        return ordered(sql, op, at, wanted)
      default:
        return ordered(sql, op, sql`${at} COLLATE "C"`, wanted)
    }
  }
}

/**
 * A missing value differs from every value, and is neither more nor less. Other comparisons stay plain, so that an
 * index can serve them, and may therefore be null.
 */
function ordered(sql: Queryable, op: FilterTerm['op'], at: Fragment, wanted: Fragment): Fragment | null {
  switch (op) {
    case 'eq':
      return sql`${at} = ${wanted}`
    case 'ne':
      return sql`coalesce(${at} <> ${wanted}, TRUE)`
    case 'gt':
      return sql`${at} > ${wanted}`
    case 'ge':
      return sql`${at} >= ${wanted}`
    case 'lt':
      return sql`${at} < ${wanted}`
    case 'le':
      return sql`${at} <= ${wanted}`
    default:
      return null
  }
}
