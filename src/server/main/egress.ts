import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Secret } from '../../schemas/vault/secret.ts'
import type { Config } from '../config.ts'
import { openEgress } from '../egress/egress.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { AdminPorts } from '../store/nodes/admin-ports.ts'

/** The gate as the settings say. @param adminPorts where any node of the installation is operated */
export function openGate(
  config: Config,
  adminPorts: Pick<AdminPorts, 'ports'> = { ports: new Set([config.adminPort]) },
): Egress {
  const { port, adminPort, databaseUrl, redisUrl, egressAllow: allow, egressCaFile } = config
  const stores = [databaseUrl, redisUrl].flatMap(portOf)
  return openEgress({
    extraCa: egressCaFile === null ? [] : [readFileSync(egressCaFile, 'utf8')],
    allow,
    own: { node: [port, adminPort], stores, admin: () => adminPorts.ports },
  })
}

/**
 * How many certificates a PEM file holds.
 * @returns null when one of them cannot be read: OpenSSL would pass over it, and calls would fail much later
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

/** Those that are not named are the usual ones, which no destination may have anyway. */
function portOf(url: Secret | null): readonly number[] {
  try {
    const port = Number(new URL(url?.reveal() ?? '').port)
    return port === 0 ? [] : [port]
  } catch {
    // None at all, or several hosts in one.
    return [...(url?.reveal() ?? '').matchAll(/:(\d{1,5})(?=[,/?]|$)/g)].map(([, port]) => Number(port))
  }
}
