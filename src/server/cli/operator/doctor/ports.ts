import { hostForUrl, originAt } from '../../../../schemas/values/origins.ts'
import { PORT_TAKEN, probePort, refusalOf } from '../../../supervisor/checks.ts'
import { bad, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'
import type { Look } from './look.ts'
import { holderOf } from './port-holder.ts'

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

/** Compares only the ports: a node that listens on all addresses holds the port of each. */
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
