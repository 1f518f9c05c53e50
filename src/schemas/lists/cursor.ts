const PREFIX = 'after:'
const BACK_PREFIX = 'before:'

/** Cursor of the page after this id. Opaque to callers, so that its content may change. */
export function cursorBehind(id: string): string {
  return Buffer.from(PREFIX + id).toString('base64url')
}

/** Cursor of a list that is walked backwards: its next page ends before this id. */
export function cursorBefore(id: string): string {
  return Buffer.from(BACK_PREFIX + id).toString('base64url')
}

/** @returns the id, or null for a text that is not a cursor from `cursorBehind` */
export function idOfCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString().slice(PREFIX.length)
  return cursorBehind(id) === cursor ? id : null
}

/** @returns the id, or null for a text that is not a cursor from `cursorBefore` */
export function idOfBackCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString().slice(BACK_PREFIX.length)
  return cursorBefore(id) === cursor ? id : null
}
