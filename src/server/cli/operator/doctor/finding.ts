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
