import { networkInterfaces } from 'node:os'
import { canonical } from './addresses.ts'

/**
 * Ports that the gate never connects to: ours on this machine, and those of our stores and of all admin ports
 * on any that is not public. Which addresses other nodes have is not known: their operators give them, and
 * networks translate them.
 */
export interface OwnPorts {
  /** Where this node listens. */
  readonly node: readonly number[]
  /** Where the stores of the installation listen. */
  readonly stores: readonly number[]
  /** Where the nodes of the installation are operated, this one and others. */
  readonly admin: () => ReadonlySet<number>
}

/**
 * True for the node's own listeners, the installation's stores and its admin ports, which no entry of the
 * allow-list opens: through them a caller would reach our own admin port and tables. Where a node listens
 * does not matter: its port is its own on each address of the machine.
 */
export function isOurs(address: string, port: number, own: OwnPorts): boolean {
  if (own.stores.includes(port) || own.admin().has(port)) return true
  return own.node.includes(port) && isThisMachine(address)
}

/** Asked for each connection to such a port alone, since interfaces come and go. */
function isThisMachine(address: string): boolean {
  if (address === '::1' || address.startsWith('127.')) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return interfaces.some((one) => canonical(one.address.replace(/%.*$/, '')) === canonical(address))
}
