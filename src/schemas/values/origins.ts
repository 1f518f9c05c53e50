/** The origin of a service that listens at the host and port; a wildcard address is replaced by that of the machine itself. */
export function originAt(host: string, port: number, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://${hostForUrl(host)}:${port}`
}

/** IPv6 needs brackets. */
export function hostForUrl(host: string): string {
  const address = addressOf(host)
  return address.includes(':') ? `[${address}]` : address
}

/** The address for clients, which cannot connect to a wildcard address. */
export function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** True for a host that only its own machine reaches. */
export function isLoopback(host: string): boolean {
  return /^(127\.|localhost$|::1$)/.test(host)
}
