/** The message of an error in Sluice's envelope; null for any other text. */
export function messageIn(text: string): string | null {
  const message = memberOf(memberOf(parsedJson(text), 'error'), 'message')
  return typeof message === 'string' ? message : null
}

/** Undefined for a text that is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reason of a failed connection. A refused connection to a name with several addresses has no message of its own. */
export function connectionReason(cause: Error): string {
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
