import type { LookupAddress } from 'node:dns'
import { isIPv6, type LookupFunction } from 'node:net'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { UPSTREAM_CONNECT_MS } from '../../schemas/models/provider-limits.ts'
import { canonical } from './addresses.ts'
import { DestinationRefused, type Vetted } from './vetting.ts'

export type Connect = buildConnector.connector

/** Node's roots and the operator's, read once: for each connection anew it would take a millisecond. */
export function trustOf(extraCa: readonly string[]): { readonly secureContext?: SecureContext } {
  return extraCa.length === 0
    ? {}
    : { secureContext: createSecureContext({ ca: [...rootCertificates, ...extraCa] }) }
}

type Trust = ReturnType<typeof trustOf>

/** Connects as it is told to, for origins of the operator's. */
export function trustedConnector(trust: Trust): Connect {
  return buildConnector({ timeout: UPSTREAM_CONNECT_MS, ...trust })
}

/** Counts the sockets of vetted destinations. */
export interface SocketPlaces {
  /** Rejects with GateBusy when there is none. */
  take(): Promise<void>
  giveBack(): void
}

/**
 * Connects to nothing but what was vetted for this very connection. The name stays what TLS verifies and
 * `Host` says. Both a look at the host before connecting and a lookup of ours are needed: Node asks no lookup
 * for literal addresses.
 */
export function vettedConnector(trust: Trust, vet: () => Promise<Vetted>, places: SocketPlaces): Connect {
  let found: readonly LookupAddress[] = []
  const lookup: LookupFunction = (_name, { all }, told) => {
    const [first] = found
    if (all === true) told(null, [...found])
    else if (first === undefined) told(new Error('nothing was vetted'), '', 0)
    else told(null, first.address, first.family)
  }
  const connect = buildConnector({ timeout: UPSTREAM_CONNECT_MS, ...trust, lookup })
  return (options, connected) => {
    const refused = (cause: unknown): void =>
      connected(cause instanceof Error ? cause : new Error(String(cause)), null)
    const open = ({ addresses, isPlain }: Vetted): void => {
      found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
      connect({ ...options, protocol: isPlain ? 'http:' : 'https:' }, (error, socket) => {
        if (error !== null) {
          places.giveBack()
          return refused(error)
        }
        socket.once('close', () => places.giveBack())
        // Should a version of Node or undici find another way to an address, it ends here.
        const { remoteAddress } = socket
        if (addresses.includes(canonical(remoteAddress ?? '') ?? '')) return connected(null, socket)
        socket.destroy()
        // One that the other side has broken by now has no address any more.
        refused(
          remoteAddress === undefined
            ? new Error('broken as it was made')
            : new DestinationRefused('an address that nobody vetted'),
        )
      })
      // Node has asked for the addresses before `connect` returned: those of no other connection can be
      // meant.
      found = []
    }
    vet()
      .then((vetted) => places.take().then(() => open(vetted)))
      .catch(refused)
  }
}
