import { isIP } from 'node:net'

/**
 * Whether the dashboard answers to a request's `Host`: to names of this machine's own, to addresses, and to
 * the name that the admin port was given. A page elsewhere can have its own name lead here, and would then be
 * taken for ours; it cannot choose another name.
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

/** Lower case, without brackets, the port and a dot at the end. */
function nameOf(host: string): string | null {
  const [, six, other] = WITH_PORT.exec(host) ?? []
  if (six !== undefined) return isIP(six) === 6 ? six : null
  return other?.toLowerCase().replace(/\.$/, '') ?? null
}
