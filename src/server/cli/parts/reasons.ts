/** The first line of an error. When several addresses were tried and the error itself has no text, that of the last address. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '' && cause.errors.length > 0)
    return reasonOf(cause.errors.at(-1))
  if (!(cause instanceof Error)) return String(cause)
  const [line = ''] = cause.message.split('\n')
  return line === '' ? (codeOf(cause) ?? cause.name) : line
}

export function codeOf(cause: unknown): string | null {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : null
}
