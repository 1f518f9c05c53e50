const MORE_HOSTS = /^(\w+:\/\/(?:[^/?#]*@)?[^/?#@,]*),[^/?#@]*/

/**
 * An address of Postgres with the first of its hosts alone: it may have several, of which `URL` knows one.
 */
export function withOneHost(url: string): string {
  return url.replace(MORE_HOSTS, '$1')
}
