import { isIP } from 'node:net'

/**
 * True when the dashboard answers to a request's `Host`: names of this machine, addresses, and the configured
 * name of the admin port. A foreign page can point its own name at this port and would then pass for the
 * dashboard, but it cannot choose another name.
 * @param host the header, with a port or without; undefined when there is none
 * @param configured SLUICE_ADMIN_HOST
 */
export function isOwnHost(host: string | undefined, configured: string): boolean {
  const name = nameOf(host ?? '')
  if (name === null) return false
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    isIP(name) !== 0 ||
    name === configured.toLowerCase()
  )
}

const WITH_PORT = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::[0-9]{1,5})?$/

/** The name in lower case, without brackets, the port and a final dot. */
function nameOf(host: string): string | null {
  const [, six, other] = WITH_PORT.exec(host) ?? []
  if (six !== undefined) return isIP(six) === 6 ? six : null
  return other?.toLowerCase().replace(/\.$/, '') ?? null
}
