const DATABASE_PATH = /^\/[A-Za-z0-9_-]+$/

/**
 * Shows only the scheme and the host of a URL, and the database of a Postgres URL: a user may be a token as
 * well as a password, and so may a path. Shows only the length of any other text.
 */
export function masked(given: string): string {
  const length = `*** (${given.length} characters)`
  try {
    const { protocol, username, password, host, pathname, search } = new URL(given)
    // An `@` behind a slash means that the password contains the slash, and that the apparent host is the
    // password's beginning.
    if (host === '' || pathname.includes('@')) return length
    const user = username + password === '' ? '' : '***@'
    const isDatabase = protocol.startsWith('postgres') && DATABASE_PATH.test(pathname)
    const rest = (isDatabase || pathname.length < 2 ? '' : '/***') + (search === '' ? '' : '?***')
    return `${protocol}//${user}${host}${isDatabase ? pathname : ''}${rest}`
  } catch {
    return length
  }
}
