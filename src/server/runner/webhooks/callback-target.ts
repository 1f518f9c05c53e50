import type { Destination } from '../../ports/egress/egress.ts'

export interface CallbackTarget {
  readonly destination: Destination
  /** The path with its query and without its fragment, which is the caller's own. */
  readonly path: string
}

/**
 * The destination of a callback. The accepted URL is checked anew, since the rules may have changed.
 * @returns null for a URL that webhooks are not sent to: malformed, not HTTPS, or with credentials
 */
export function callbackTarget(text: string, workspaceId: string): CallbackTarget | null {
  const url = /^[!-~]+$/.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null
  const host = url.hostname.replace(/\.$/, '')
  const port = url.port === '' ? null : Number(url.port)
  return {
    destination: { host, port, purpose: 'callback', workspaceId },
    path: `${url.pathname}${url.search}`,
  }
}
