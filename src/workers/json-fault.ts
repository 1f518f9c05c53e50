export const LONE_SURROGATE = 'A string contains a lone surrogate.'
const NOT_FINITE = 'A number is out of range.'

interface Rule {
  readonly hasEscapes: boolean
  /** Nesting levels. */
  readonly depthMax: number
}

export function tooDeep(depthMax: number): string {
  return `The JSON nests deeper than ${depthMax} levels.`
}

/**
 * Finds faults that `JSON.parse` accepts and Sluice refuses: too many levels, lone surrogates, numbers that
 * overflow.
 * @param text the text from which `value` was parsed: strings need a check only when it contains `\u`
 * escapes
 * @returns a sentence for the caller, or null.
 */
export function jsonFault(value: unknown, text: string, depthMax: number): string | null {
  return valueFault(value, 1, { hasEscapes: text.includes('\\u'), depthMax })
}

function valueFault(value: unknown, level: number, rule: Rule): string | null {
  if (typeof value === 'string') return rule.hasEscapes && !value.isWellFormed() ? LONE_SURROGATE : null
  if (typeof value === 'number') return Number.isFinite(value) ? null : NOT_FINITE
  if (typeof value !== 'object' || value === null) return null
  if (level > rule.depthMax) return tooDeep(rule.depthMax)
  if (Array.isArray(value)) return arrayFault(value, level, rule)
  return objectFault(value as Record<string, unknown>, level, rule)
}

function arrayFault(value: readonly unknown[], level: number, rule: Rule): string | null {
  for (let i = 0; i < value.length; i++) {
    const fault = valueFault(value[i], level + 1, rule)
    if (fault !== null) return fault
  }
  return null
}

function objectFault(value: Record<string, unknown>, level: number, rule: Rule): string | null {
  for (const name in value) {
    if (rule.hasEscapes && !name.isWellFormed()) return LONE_SURROGATE
    const fault = valueFault(value[name], level + 1, rule)
    if (fault !== null) return fault
  }
  return null
}

/** Drops members called `__proto__` at any depth, so that no later copy can use such a member as a prototype. */
export function dropProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) for (const one of value as readonly unknown[]) dropProto(one)
  else {
    Reflect.deleteProperty(value, '__proto__')
    for (const one of Object.values(value)) dropProto(one)
  }
}
