const DATABASE_PATH = /^\/[A-Za-z0-9_-]+$/

/**
 * Of an URL its scheme, its host and the database of a Postgres: a user may be a token as well as a password,
 * and so may a path. Any other text only by its length.
 */
export function masked(given: string): string {
  const length = `*** (${given.length} characters)`
  try {
    const { protocol, username, password, host, pathname, search } = new URL(given)
    // An `@` behind a slash: the password holds the slash, and what looks like a host is its beginning.
    if (host === '' || pathname.includes('@')) return length
    const user = username + password === '' ? '' : '***@'
    const isDatabase = protocol.startsWith('postgres') && DATABASE_PATH.test(pathname)
    const rest = (isDatabase || pathname.length < 2 ? '' : '/***') + (search === '' ? '' : '?***')
    return `${protocol}//${user}${host}${isDatabase ? pathname : ''}${rest}`
  } catch {
    return length
  }
}
