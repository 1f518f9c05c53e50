/** What providers of every protocol refuse: each rule gives the provider's message, or null. */
export type Members = Readonly<Record<string, unknown>>

export type Rule = () => string | null

/** The first message of the rules. */
export function firstOf(...rules: readonly Rule[]): string | null {
  for (const rule of rules) {
    const wrong = rule()
    if (wrong !== null) return wrong
  }
  return null
}

/** The first message about one of a list. */
export function firstIn(
  list: readonly Members[],
  path: string,
  wrongOf: (one: Members, path: string) => string | null,
): string | null {
  for (const [at, one] of list.entries()) {
    const wrong = wrongOf(one, `${path}[${at}]`)
    if (wrong !== null) return wrong
  }
  return null
}

/** @param known names with spaces between them */
export function unknownIn(one: Members, known: string, path: string): string | null {
  const names = new Set(known.split(' '))
  const other = Object.keys(one).find((name) => !names.has(name))
  return other === undefined ? null : `Unknown parameter: '${path === '' ? '' : `${path}.`}${other}'.`
}

export function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? (value as readonly Members[]) : []
}

/** Names of tools that OpenAI and Anthropic take; the second goes to 128 characters. */
export const TOOL_NAME = /^[\w-]{1,64}$/

export function wrongName(name: unknown, path: string): string | null {
  return typeof name === 'string' && TOOL_NAME.test(name)
    ? null
    : `Invalid '${path}.name': string does not match pattern ${TOOL_NAME.source}.`
}

/** Numbers within their bounds. */
export function wrongNumber(
  body: Members,
  bounds: Readonly<Record<string, readonly [number, number]>>,
): string | null {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || value < least || value > most)
      return `Invalid '${name}': ${JSON.stringify(value)} is not between ${least} and ${most}.`
  }
  return null
}

/** A choice needs tools, and the tool that it names. @param names of the tools */
export function wrongChoice(body: Members, named: unknown, names: readonly unknown[]): string | null {
  const isStated = (body['tool_choice'] ?? body['parallel_tool_calls'] ?? null) !== null
  if (isStated && names.length === 0) return `'tool_choice' is only allowed when 'tools' are specified.`
  if (named !== undefined && !names.includes(named))
    return `Tool choice '${String(named)}' not found in 'tools'.`
  return new Set(names).size < names.length ? 'Tool names must be unique.' : null
}
