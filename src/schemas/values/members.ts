/** Members of a JSON value whose shape is not known. */
export type Members = Readonly<Record<string, unknown>>

/** False also for a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null: the value is a list or not an object. */
export function objectOf(value: unknown): Record<string, unknown> | null {
  return isObject(value) ? value : null
}

/** The value's members; empty if it is a list or not an object. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}
