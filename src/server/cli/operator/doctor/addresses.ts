import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../../config.ts'
import { isLoopback, hostForUrl, originAt } from '../../../../schemas/values/origins.ts'
import { standingOf } from '../../../egress/addresses.ts'
import { checkTlsFiles, PORT_TAKEN, probePort, refusalOf } from '../../../supervisor/checks.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'
import type { Look } from './look.ts'
import { holderOf } from './port-holder.ts'

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
 * The finding about the admin address. In a container the node has to listen beyond loopback for probes, so that
 * only an address that the internet can reach is a finding.
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

interface Place {
  readonly host: string
  readonly port: number
  readonly setting: 'SLUICE_PORT' | 'SLUICE_ADMIN_PORT'
  /** The address that the running node has published. */
  readonly published: string | null
  readonly origin: string
}

/** Checks that the ports are free, or held by the node of this installation. */
export async function ports(look: Look): Promise<readonly Finding[]> {
  const {
    running,
    runtime,
    generation: { config },
  } = look
  if (running !== null && runtime === null)
    return [good('port', `the node (pid ${running.pid}) is still starting`)]
  const { host, port, adminHost, adminPort, tls } = config
  const places: readonly Place[] = [
    {
      host,
      port,
      setting: 'SLUICE_PORT',
      published: runtime?.url ?? null,
      origin: originAt(host, port, tls !== null),
    },
    {
      host: adminHost,
      port: adminPort,
      setting: 'SLUICE_ADMIN_PORT',
      published: runtime?.adminUrl ?? null,
      origin: `http://${hostForUrl(adminHost)}:${adminPort}`,
    },
  ]
  // One after the other: a second listener of doctor itself on the same address would look like another
  // process.
  const findings: Finding[] = []
  for (const place of places) findings.push(await lookAtPlace(place, look))
  return findings
}

async function lookAtPlace(place: Place, { running, holderMsMax }: Look): Promise<Finding> {
  const pid = running?.pid ?? null
  const { host, port, setting, published } = place
  const address = `${host}:${port}`
  const isOwn = published !== null && samePort(published, place.origin)
  try {
    await probePort(host, port, setting)
  } catch (cause) {
    const refusal = refusalOf(cause)
    if (isOwn && refusal === PORT_TAKEN) return good('port', `${address} is in use by the node (pid ${pid})`)
    return bad('port', await detailOf(cause, place.port, holderMsMax), fixOf(refusal, setting))
  }
  if (isOwn)
    return bad(
      'port',
      `nothing listens on ${address}, although the node (pid ${pid}) is running`,
      'check the log of the node, then restart the node',
    )
  return good(
    'port',
    published === null ? `${address} is free` : `${address} is free; the node (pid ${pid}) uses ${published}`,
  )
}

/** Compares only the ports: a node that listens on all addresses uses the port on each of them. */
function samePort(one: string, other: string): boolean {
  return new URL(one).port === new URL(other).port
}

async function detailOf(cause: unknown, port: number, msMax: number): Promise<string> {
  const holder = refusalOf(cause) === PORT_TAKEN ? await holderOf(port, msMax) : null
  return holder === null ? reasonOf(cause) : `${reasonOf(cause)} (in use by ${holder})`
}

function fixOf(refusal: string | null, setting: Place['setting']): string {
  if (refusal === PORT_TAKEN) return `stop the program that uses the port, or set ${setting} to another port`
  if (refusal === 'EACCES') return `set ${setting} to 1024 or more, or give the program CAP_NET_BIND_SERVICE`
  return `set ${setting.replace('_PORT', '_HOST')} to an address of this machine`
}
