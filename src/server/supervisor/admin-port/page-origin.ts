import type { IncomingMessage } from 'node:http'

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * True unless a browser says that another page than the dashboard at this very address made the request. A
 * page of another port of the same host is another page. A browser sends `Origin` with all that is no read,
 * so that a request without it is no page's.
 */
export function isFromOwnPage({
  method = '',
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers
  if (site !== 'same-origin') return false
  if (origin === undefined) return READS.has(method)
  return originOf(origin)?.host === hostOf(headers)
}

/** Whether the page of the request was loaded over TLS. */
export function isPageTls({ origin = '' }: IncomingMessage['headers']): boolean {
  return originOf(origin)?.protocol === 'https:'
}

/** The host that the request was sent to, in lower case, with its port. */
export function hostOf({ host = '' }: IncomingMessage['headers']): string {
  return host.toLowerCase()
}

/** Null for a text that is no origin, such as `null`. */
function originOf(text: string): URL | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  return url.origin === text.toLowerCase() ? url : null
}
