import type { Destination } from '../../ports/egress/egress.ts'

export interface CallbackTarget {
  readonly destination: Destination
  /** With its query; a fragment is the caller's own. */
  readonly path: string
}

/**
 * Where a callback goes. What was accepted once is read anew: rules may have changed since.
 * @returns null for what no webhook goes to: no URL, not HTTPS, with credentials
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
