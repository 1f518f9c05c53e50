const OBJECT_ID = /^[A-Za-z0-9_-]{1,128}$/

/** Ids from Sluice's own rows. An id becomes a file name and a key, so that any other text is a bug and throws. */
export function objectIdOf(text: string): string {
  if (!isObjectId(text)) throw new RangeError('not an object id')
  return text
}

export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text)
}
