const MORE_HOSTS = /^(\w+:\/\/(?:[^/?#]*@)?[^/?#@,]*),[^/?#@]*/

/** A URL of Postgres with only its first host: a URL may have several hosts, of which `URL` knows one. */
export function withOneHost(url: string): string {
  return url.replace(MORE_HOSTS, '$1')
}
