import { networkInterfaces } from 'node:os'
import { canonical } from './addresses.ts'

/**
 * Ports to which the gate never connects: the node's own on this machine, and those of the stores and of all
 * admin ports on any address that is not public. The addresses of other nodes are unknown: their operators
 * assign them, and networks translate them.
 */
export interface OwnPorts {
  readonly node: readonly number[]
  readonly stores: readonly number[]
  /** Admin ports of the installation's nodes, including this node. */
  readonly admin: () => ReadonlySet<number>
}

/**
 * True for the node's own listeners, the installation's stores and its admin ports, which no entry of the
 * allow-list opens: through them a caller would reach the admin port and the tables. The node's listening
 * address does not matter: its port is its own on each address of the machine.
 */
export function isOurs(address: string, port: number, own: OwnPorts): boolean {
  if (own.stores.includes(port) || own.admin().has(port)) return true
  return own.node.includes(port) && isThisMachine(address)
}

/** Called only for connections to such a port, since interfaces come and go. */
function isThisMachine(address: string): boolean {
  if (address === '::1' || address.startsWith('127.')) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return interfaces.some((one) => canonical(one.address.replace(/%.*$/, '')) === canonical(address))
}
