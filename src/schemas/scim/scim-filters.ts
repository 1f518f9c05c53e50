import { parse, type Filter } from 'scim2-parse-filter'
import { fail, ok, type Outcome } from '../failures.ts'
import { booleanOf } from './scim-attributes.ts'

/** Characters of a filter. Decision. */
export const SCIM_FILTER_CHARS_MAX = 4_096
/** Comparisons of one filter. Decision. */
export const SCIM_FILTER_TERMS_MAX = 100
/** Parentheses, brackets and `not` of one filter, which may all be nested. Decision. */
export const SCIM_FILTER_NESTING_MAX = 20

export type { Filter }

const CONTROL = /[\u0000-\u001f\u007f]/
const LITERAL = /"(?:[^"\\]|\\.)*"/g
const NESTING = /[([]|\bnot\b/gi

export const NOT_WELL_FORMED = 'The filter is not well-formed.'

/**
 * A filter within its bounds, as a tree. Failure: scim_filter_invalid. RFC 7644 §3.4.2.2.
 *
 * Each literal is replaced by a number for the parser, since the parser would double the escapes of a literal
 * and needs exponential time for an unclosed one.
 */
export function parsedFilter(filter: string): Outcome<Filter> {
  if (filter.length > SCIM_FILTER_CHARS_MAX)
    return refusedFilter(`The filter has more than ${SCIM_FILTER_CHARS_MAX} characters.`)
  if (CONTROL.test(filter)) return refusedFilter('The filter has a control character.')
  const literals: string[] = []
  const bare = filter.replaceAll(LITERAL, (literal) => `"${literals.push(textOf(literal)) - 1}"`)
  if (bare.split('"').length !== literals.length * 2 + 1)
    return refusedFilter('The filter has an unterminated string.')
  if ((bare.match(NESTING)?.length ?? 0) > SCIM_FILTER_NESTING_MAX)
    return refusedFilter(`The filter nests deeper than ${SCIM_FILTER_NESTING_MAX} levels.`)
  try {
    const parsed = parse(bare)
    return termsOf(parsed) > SCIM_FILTER_TERMS_MAX
      ? refusedFilter(`The filter has more than ${SCIM_FILTER_TERMS_MAX} comparisons.`)
      : ok(restored(parsed, literals))
  } catch {
    return refusedFilter(NOT_WELL_FORMED)
  }
}

/** A literal is JSON; some providers send the backslash of `DOMAIN\user` without escaping. */
function textOf(literal: string): string {
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal.slice(1, -1).replaceAll(/\\(["\\])/g, '$1')
  }
}

function restored(filter: Filter, literals: readonly string[]): Filter {
  if ('filters' in filter)
    return { ...filter, filters: filter.filters.map((part) => restored(part, literals)) }
  if ('filter' in filter) return { ...filter, filter: restored(filter.filter, literals) }
  if ('valFilter' in filter) return { ...filter, valFilter: restored(filter.valFilter, literals) }
  if (!('compValue' in filter) || typeof filter.compValue !== 'string') return filter
  const text = literals[Number(filter.compValue)] ?? ''
  return { ...filter, compValue: isTruth(filter.attrPath) ? (booleanOf(text) ?? text) : text }
}

/** Whether Entra compares the attribute with a text (`roles[primary eq "True"]`), although its value is a boolean. */
function isTruth(attrPath: string): boolean {
  return /(?:^|[.:])(?:active|primary)$/i.test(attrPath)
}

/** Number of comparisons of a filter. */
export function termsOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + termsOf(part), 0)
  if ('filter' in filter) return termsOf(filter.filter)
  return 'valFilter' in filter ? termsOf(filter.valFilter) : 1
}

export function refusedFilter(detail: string): Outcome<never> {
  return fail('scim_filter_invalid', { detail })
}
