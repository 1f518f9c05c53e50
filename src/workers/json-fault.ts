import { JSON_DEPTH_MAX } from '../schemas/limits/limits.ts'

const TOO_DEEP = `It nests deeper than ${JSON_DEPTH_MAX} levels.`
const LONE_SURROGATE = 'A string holds a lone surrogate.'
const NOT_FINITE = 'A number is out of range.'

/**
 * Finds faults that `JSON.parse` accepts and Sluice refuses: depth above JSON_DEPTH_MAX, lone surrogates,
 * numbers that overflow. Drops members called `__proto__` on the way, so that no later copy can take one for
 * a prototype.
 * @param text the text from which `value` was parsed: strings need a check only when it contains `\u` escapes
 * @returns a sentence for the caller, or null. Source: contract C10.
 */
export function jsonFault(value: unknown, text: string): string | null {
  const hasEscapes = text.includes('\\u')
  return walk(value, 1, hasEscapes)
}

function walk(value: unknown, level: number, hasEscapes: boolean): string | null {
  if (typeof value === 'string') return hasEscapes && !value.isWellFormed() ? LONE_SURROGATE : null
  if (typeof value === 'number') return Number.isFinite(value) ? null : NOT_FINITE
  if (typeof value !== 'object' || value === null) return null
  if (level > JSON_DEPTH_MAX) return TOO_DEEP
  if (Array.isArray(value)) return walkArray(value, level, hasEscapes)
  return walkObject(value as Record<string, unknown>, level, hasEscapes)
}

function walkArray(value: readonly unknown[], level: number, hasEscapes: boolean): string | null {
  for (let i = 0; i < value.length; i++) {
    const fault = walk(value[i], level + 1, hasEscapes)
    if (fault !== null) return fault
  }
  return null
}

function walkObject(value: Record<string, unknown>, level: number, hasEscapes: boolean): string | null {
  for (const name in value) {
    if (hasEscapes && !name.isWellFormed()) return LONE_SURROGATE
    const fault = walk(value[name], level + 1, hasEscapes)
    if (fault !== null) return fault
    if (name === '__proto__') delete value[name]
  }
  return null
}
