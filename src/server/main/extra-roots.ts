import { X509Certificate } from 'node:crypto'

/**
 * Counts the certificates in a PEM file.
 * @returns null when a certificate cannot be read: OpenSSL would ignore it, and calls would fail only much
 * later
 */
export function countRoots(pem: string): number | null {
  const blocks =
    pem.match(
      /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g,
    ) ?? []
  try {
    return blocks.map((block) => new X509Certificate(block)).length
  } catch {
    return null
  }
}
