import type { ProxyList } from '../../../schemas/values/proxies.ts'
import type { WireResponse } from '../reply/wire.ts'

export type Scheme = 'http' | 'https'

/** The beginning of the URLs of this node in its answers. */
export interface OriginOptions {
  /** SLUICE_PUBLIC_URL; null: the request says by which host it came. */
  readonly publicUrl: string | null
  readonly isTls: boolean
  readonly proxies: ProxyList
}

/** Characters of a `Host` header that an answer may repeat: a name of 253, a point and a port. */
const HOST_CHARS_MAX = 260
const PORT_MAX = 65_535
/** A host name of labels without other characters, or an address in brackets, and a port. */
const HOST =
  /^(?:[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*\.?|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/i

/**
 * Scheme and host of a request, for links in its answer: those of SLUICE_PUBLIC_URL where it is set. Empty
 * for a `Host` header of another form, so that no answer repeats one. C39.
 */
export function originOf(host: string, { publicUrl, isTls }: OriginOptions, proxied: Scheme | null): string {
  if (publicUrl !== null) return publicUrl
  const port = host.length > HOST_CHARS_MAX ? null : HOST.exec(host)
  if (port === null || Number(port[1] ?? 1) > PORT_MAX || Number(port[1] ?? 1) < 1) return ''
  return `${proxied ?? (isTls ? 'https' : 'http')}://${host.toLowerCase()}`
}

/**
 * The scheme by which a listed proxy was asked; null where it does not say, and for all other peers.
 * @param scheme value of `X-Forwarded-Proto`
 */
export function proxiedScheme(
  scheme: string | undefined,
  res: Pick<WireResponse, 'getRemoteAddress'>,
  { proxies }: OriginOptions,
): Scheme | null {
  if (scheme === undefined || proxies.isEmpty) return null
  if (scheme !== 'http' && scheme !== 'https') return null
  return proxies.has(res.getRemoteAddress()) ? scheme : null
}
