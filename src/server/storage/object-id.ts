const OBJECT_ID = /^[A-Za-z0-9_-]{1,128}$/

/** The ids of our own rows; it becomes a file name and a key, so anything else is a bug and throws. */
export function objectIdOf(text: string): string {
  if (!isObjectId(text)) throw new RangeError('not an object id')
  return text
}

export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text)
}
