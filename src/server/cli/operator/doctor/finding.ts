/** The result of one check. A `problem` keeps the node from working, a `warning` does not. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** The remedy; present with every warning and problem. */
  readonly fix?: string
}

export function good(check: string, detail: string): Finding {
  return { check, level: 'ok', detail }
}

export function doubtful(check: string, detail: string, fix: string): Finding {
  return { check, level: 'warning', detail, fix }
}

export function bad(check: string, detail: string, fix: string): Finding {
  return { check, level: 'problem', detail, fix }
}

/** The first line of an error; for several tried addresses that of the last one. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors.at(-1))
  if (!(cause instanceof Error)) return String(cause)
  const [line = ''] = cause.message.split('\n')
  return line === '' ? (codeOf(cause) ?? cause.name) : line
}

export function codeOf(cause: unknown): string | null {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : null
}
