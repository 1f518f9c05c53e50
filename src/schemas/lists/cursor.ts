const PREFIX = 'after:'
const BACK_PREFIX = 'before:'

/**
 * Where the next page of a list begins: behind this id. Opaque to callers, so that what it holds may change.
 */
export function cursorBehind(id: string): string {
  return Buffer.from(PREFIX + id).toString('base64url')
}

/** The same of a list that is walked backwards: its next page ends before this id. */
export function cursorBefore(id: string): string {
  return Buffer.from(BACK_PREFIX + id).toString('base64url')
}

/** @returns the id, or null for a text that is no cursor of ours */
export function idOfCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString().slice(PREFIX.length)
  return cursorBehind(id) === cursor ? id : null
}

/** The same of a cursor of a list that is walked backwards. */
export function idOfBackCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString().slice(BACK_PREFIX.length)
  return cursorBefore(id) === cursor ? id : null
}
