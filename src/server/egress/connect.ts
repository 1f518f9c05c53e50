import type { LookupAddress } from 'node:dns'
import { isIPv6, type ConnectOpts, type LookupFunction } from 'node:net'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { UPSTREAM_CONNECT_MS } from '../../schemas/models/provider-limits.ts'
import { canonical } from './addresses.ts'
import { sharedRead } from './http1/connection.ts'
import { directRead } from './undici-parser.ts'
import { DestinationRefused, type Vetted } from './vetting.ts'
import { KIB } from '../../schemas/limits/limits.ts'

/** Bytes of one read of a provider's connection. Decision. */
export const UPSTREAM_READ_BYTES_MAX = 64 * KIB
/**
 * As UPSTREAM_READ_BYTES_MAX, for long calls, whose events are small: while the caller does not read, up to
 * three reads wait in the front. Decision.
 */
export const UPSTREAM_READ_EVENTS_BYTES_MAX = 8 * KIB

export type Connect = buildConnector.connector

/** undici passes options that it does not know on to `connect` of `net` and `tls`. */
const CONNECTION: buildConnector.BuildOptions & Pick<ConnectOpts, 'onread'> = {
  timeout: UPSTREAM_CONNECT_MS,
  onread: directRead(UPSTREAM_READ_BYTES_MAX),
}
const LONG_CONNECTION = {
  ...CONNECTION,
  onread: directRead(UPSTREAM_READ_EVENTS_BYTES_MAX),
  // undici's default is 64 KiB, and a paused connection would read that much.
  highWaterMark: UPSTREAM_READ_EVENTS_BYTES_MAX,
}

/** Node's roots and the operator's, read once: reading them for each connection would take a millisecond. */
export function trustOf(extraCa: readonly string[]): { readonly secureContext?: SecureContext } {
  return extraCa.length === 0
    ? {}
    : { secureContext: createSecureContext({ ca: [...rootCertificates, ...extraCa] }) }
}

type Trust = ReturnType<typeof trustOf>

/** Connects to any address, for the operator's origins. */
export function trustedConnector(trust: Trust): Connect {
  return buildConnector({ ...CONNECTION, ...trust })
}

/** As `trustedConnector`, for long calls: thousands of them may each hold a read in memory while their callers do not read. */
export function trustedLongConnector(trust: Trust): Connect {
  return buildConnector({ ...LONG_CONNECTION, ...trust })
}

export interface Reading {
  /** Memory into which calls are read; absent: a buffer of UPSTREAM_READ_BYTES_MAX. */
  readonly readMemory?: Uint8Array | undefined
  readonly isPoisoned?: boolean
}

/** Connectors of Sluice's own HTTP client. Calls share one read buffer, and long calls share another. */
export function leanConnectors(
  trust: Trust,
  { readMemory = Buffer.alloc(UPSTREAM_READ_BYTES_MAX), isPoisoned = false }: Reading = {},
): { readonly calls: Connect; readonly long: Connect } {
  const reading = (memory: Uint8Array): Connect =>
    buildConnector({ ...CONNECTION, ...trust, onread: sharedRead(memory, isPoisoned) })
  return { calls: reading(readMemory), long: reading(Buffer.alloc(UPSTREAM_READ_EVENTS_BYTES_MAX)) }
}

export interface SocketPlaces {
  /** Rejects with GateBusy when no place is free. */
  take(): Promise<void>
  giveBack(): void
}

/**
 * Connects only to addresses that were vetted for this very connection. TLS still verifies the name, and
 * `Host` still contains it. The connector needs both, a check of the host before connecting and a lookup
 * function: Node calls no lookup for literal addresses.
 */
export function vettedConnector(trust: Trust, vet: () => Promise<Vetted>, places: SocketPlaces): Connect {
  let found: readonly LookupAddress[] = []
  const lookup: LookupFunction = (_name, { all }, answer) => {
    const [first] = found
    if (all === true) answer(null, [...found])
    else if (first === undefined) answer(new Error('no address was checked'), '', 0)
    else answer(null, first.address, first.family)
  }
  const connect = buildConnector({ ...CONNECTION, ...trust, lookup })
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
        // A last check, in case a version of Node or undici connects to an address in another way.
        const { remoteAddress } = socket
        if (addresses.includes(canonical(remoteAddress ?? '') ?? '')) return connected(null, socket)
        socket.destroy()
        // A connection that the other side has already closed has no address.
        refused(
          remoteAddress === undefined
            ? new Error('connection failed while opening')
            : new DestinationRefused('address was not vetted'),
        )
      })
      // Node has called the lookup by the time `connect` returns: the addresses must not serve another
      // connection.
      found = []
    }
    vet()
      .then((vetted) => places.take().then(() => open(vetted)))
      .catch(refused)
  }
}
