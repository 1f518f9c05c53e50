import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../../config.ts'
import { isLoopback } from '../../../../schemas/values/origins.ts'
import { standingOf } from '../../../egress/addresses.ts'
import { checkTlsFiles } from '../../../supervisor/checks.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'

/** Days before the end of the certificate below which doctor warns. Decision. */
export const CERTIFICATE_DAYS_MIN = 14

const DAY_MS = 86_400_000

type Addresses = Pick<Config, 'host' | 'adminHost' | 'tls' | 'publicOrigin'>

/** Findings about the node's two addresses: who can reach them, and whether the traffic is encrypted. */
export function addresses(config: Addresses, own: readonly string[] = ownAddresses()): readonly Finding[] {
  return [config.tls === null ? plain(config) : withTls(config.tls), admin(config, own)]
}

/** The finding without TLS. A public origin of https means that a proxy has the certificate. */
function plain({ host, publicOrigin }: Addresses): Finding {
  if (isLoopback(host)) return good('tls', `TLS is not needed: only this machine can reach ${host}`)
  if (publicOrigin.startsWith('https://'))
    return good('tls', `TLS is left to the proxy at ${publicOrigin} (SLUICE_PUBLIC_URL)`)
  const detail = `API keys are sent to ${host} unencrypted: there is no certificate`
  return doubtful(
    'tls',
    detail,
    'set SLUICE_TLS_CERT and SLUICE_TLS_KEY, or use a TLS proxy and set SLUICE_PUBLIC_URL to its https:// origin',
  )
}

function withTls(tls: NonNullable<Config['tls']>): Finding {
  try {
    checkTlsFiles(tls)
    const endsAt = new Date(new X509Certificate(readFileSync(tls.certFile)).validTo)
    if (endsAt.getTime() - Date.now() > CERTIFICATE_DAYS_MIN * DAY_MS)
      return good('tls', `certificate and key match; valid until ${endsAt.toISOString()}`)
    return doubtful(
      'tls',
      `the certificate expires on ${endsAt.toISOString()}`,
      'replace the SLUICE_TLS_CERT file, then run `sluice reload`',
    )
  } catch (cause) {
    return bad('tls', reasonOf(cause), 'fix SLUICE_TLS_CERT and SLUICE_TLS_KEY')
  }
}

/**
 * The finding about the admin address. In a container the node has to listen beyond loopback for probes: a
 * finding results where the internet reaches the address.
 */
function admin({ adminHost }: Addresses, own: readonly string[]): Finding {
  if (isLoopback(adminHost)) return good('admin_address', `only this machine can reach ${adminHost}`)
  const open = adminHost === '0.0.0.0' || adminHost === '::' ? own : [adminHost]
  const exposed = open.filter((address) => standingOf(address) === 'public')
  if (exposed.length === 0)
    return good('admin_address', `${adminHost}: only allow access from your own network`)
  return doubtful(
    'admin_address',
    `anyone who can reach ${exposed.join(', ')} can read the metrics`,
    'set SLUICE_ADMIN_HOST to 127.0.0.1 or to a private address',
  )
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
}
