/**
 * The origin by which a service is reached that listens there: any address means that of the machine itself.
 */
export function originAt(host: string, port: number, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://${hostForUrl(host)}:${port}`
}

/** IPv6 wants brackets. */
export function hostForUrl(host: string): string {
  const address = addressOf(host)
  return address.includes(':') ? `[${address}]` : address
}

/** An address that means "all" is no place to connect to. */
export function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** True of a host that only its own machine reaches. */
export function isLoopback(host: string): boolean {
  return /^(127\.|localhost$|::1$)/.test(host)
}
