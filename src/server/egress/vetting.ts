import { hostFormOf, isPortAllowed } from '../../schemas/egress/destinations.ts'
import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import type { Destination } from '../ports/egress/egress.ts'
import { canonical, standingOf, isOurs, type OwnPorts, type AllowList } from './addresses.ts'
import type { Lookups } from './lookups.ts'

/** The rule that refused a destination: `fields.rule` of `destination_refused`. */
type DestinationRule = 'host' | 'port' | 'address'

/** The reason that no connection was made: callers may not reach an address of the destination. */
export class DestinationRefused extends Error {
  constructor(address: string) {
    super(`${address} is not public`)
  }
}

/** Addresses and protocol of an approved destination. */
export interface Vetted {
  /** At least one, each in its canonical form. */
  readonly addresses: readonly string[]
  readonly isPlain: boolean
}

export interface VettingDeps {
  readonly allowList: AllowList
  readonly lookups: Lookups
  readonly own: OwnPorts
}

const DETAILS: Readonly<Record<DestinationRule, string>> = {
  host: 'The host is neither a lower-case name nor an IP address in canonical form.',
  port: 'The port is not allowed. Allowed ports are 443 and 1024 to 65535, except ports of databases, mail and similar services.',
  address: 'The host resolves to an address that is not public.',
}

/** The failure names the rule, and nothing that a name resolved to. @param cause for the log */
export function refusal(rule: DestinationRule, cause?: unknown): Failure {
  return {
    name: 'destination_refused',
    detail: DETAILS[rule],
    fields: { rule },
    ...(cause === undefined ? {} : { cause }),
  }
}

/** The port of a destination, if its host and port are permitted; the addresses of its name are checked later. */
export function portOf({ host, port }: Destination): Outcome<number> {
  if (hostFormOf(host) === null) return { ok: false, failure: refusal('host') }
  const wanted = port ?? 443
  return isPortAllowed(wanted) ? ok(wanted) : { ok: false, failure: refusal('port') }
}

/**
 * Finds the addresses of a destination and refuses the destination when one of them is forbidden: a name with
 * a public and a private address is a trap. Rejects with DestinationRefused, NameUnresolved or GateBusy.
 * Plain HTTP is used only when the allow-list allows it for every address.
 */
export async function vet(destination: Destination, port: number, deps: VettingDeps): Promise<Vetted> {
  const { host, purpose, workspaceId } = destination
  const form = hostFormOf(host)
  const found =
    form === 'name'
      ? await deps.lookups.find(host, workspaceId)
      : [form === 'ipv6' ? host.slice(1, -1) : host]
  const schemes = found.map((address) => schemeFor(address, port, { purpose, deps }))
  return {
    addresses: found.map((address) => canonical(address) ?? address),
    isPlain: schemes.every((scheme) => scheme === 'http'),
  }
}

interface SchemeInput {
  readonly purpose: Destination['purpose']
  readonly deps: VettingDeps
}

function schemeFor(address: string, port: number, { purpose, deps }: SchemeInput): 'http' | 'https' {
  const standing = standingOf(address)
  if (standing === 'never' || isOwn(address, port, deps.own, standing)) throw new DestinationRefused(address)
  if (standing === 'public') return 'https'
  const scheme = deps.allowList.schemeFor(address, port, purpose)
  if (scheme === null) throw new DestinationRefused(address)
  return scheme
}

function isOwn(address: string, port: number, own: OwnPorts, standing: 'public' | 'private'): boolean {
  return isOurs(address, port, standing === 'public' ? { ...own, stores: [], admin: NONE } : own)
}

const NONE = (): ReadonlySet<number> => new Set()
