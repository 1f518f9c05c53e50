import { readFileSync } from 'node:fs'
import type { Secret } from '../../schemas/vault/secret.ts'
import type { Config } from '../config.ts'
import { openEgress } from '../egress/egress.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { AdminPorts } from '../store/nodes/admin-ports.ts'

/**
 * Opens the gate that the settings describe.
 * @param adminPorts the admin ports of all nodes of the installation
 * @param readMemory into which answers of calls are read; absent: memory of the gate
 */
export function openGate(
  config: Config,
  adminPorts: Pick<AdminPorts, 'ports'> = { ports: new Set([config.adminPort]) },
  readMemory?: Uint8Array,
): Egress {
  const { port, adminPort, databaseUrl, redisUrl, egressAllow: allow, egressCaFile, streams } = config
  const stores = [databaseUrl, redisUrl].flatMap(portOf)
  return openEgress({
    extraCa: egressCaFile === null ? [] : [readFileSync(egressCaFile, 'utf8')],
    allow,
    longCallsMax: streams,
    ...(readMemory !== undefined && { readMemory }),
    own: { node: [port, adminPort], stores, admin: () => adminPorts.ports },
  })
}

/** Ports of an address. An address without a port uses the usual one, which no destination may have anyway. */
function portOf(url: Secret | null): readonly number[] {
  try {
    const port = Number(new URL(url?.reveal() ?? '').port)
    return port === 0 ? [] : [port]
  } catch {
    // The address may be empty or name several hosts.
    return [...(url?.reveal() ?? '').matchAll(/:(\d{1,5})(?=[,/?]|$)/g)].map(([, port]) => Number(port))
  }
}
