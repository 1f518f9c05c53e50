const DATABASE_PATH = /^\/[A-Za-z0-9_-]+$/

/**
 * Shows only the scheme and the host of a URL, and the database of a Postgres URL: a user may be a token as
 * well as a password, and so may a path. Shows only the length of any other text.
 */
export function masked(given: string): string {
  const length = `*** (${given.length} characters)`
  try {
    const { protocol, username, password, host, pathname, search, hash } = new URL(given)
    // An `@` after the host is that of a password with a raw / ? or #, whose beginning reads like the host.
    if (host === '' || (pathname + search + hash).includes('@')) return length
    const user = username + password === '' ? '' : '***@'
    const isDatabase = protocol.startsWith('postgres') && DATABASE_PATH.test(pathname)
    const rest = (isDatabase || pathname.length < 2 ? '' : '/***') + (search === '' ? '' : '?***')
    return `${protocol}//${user}${host}${isDatabase ? pathname : ''}${rest}`
  } catch {
    return length
  }
}
