import { fail, ok, type Outcome } from '../failures.ts'

/** The part of the gate to the outside that this check needs. */
interface CallbackGate {
  vetted(destination: {
    readonly host: string
    readonly port: number | null
    readonly purpose: 'callback'
    readonly workspaceId?: string
  }): Outcome<{ check(): Promise<Outcome<null>> }>
}

export interface CallbackCheck {
  /** Path of the member, for the failure. */
  readonly path: string
  readonly gate: CallbackGate
  /**
   * The workspace whose share of the gate's lookups the check uses, or the organization for callers that
   * create workspaces; null: no share.
   */
  readonly holder: string | null
}

/**
 * Whether webhooks may be sent to a URL, as far as can be determined now. The URL must use HTTPS, have no
 * credentials and a port and host that the gate permits to all callers, and its name must not resolve to an
 * address that is not public. A name that does not resolve now, or cannot be looked up, is accepted: every
 * delivery is vetted again. Null means no URL.
 * Failure: callback_url_invalid.
 */
export async function checkCallbackUrl(
  text: string | null | undefined,
  { path, gate, holder }: CallbackCheck,
): Promise<Outcome<null>> {
  if (text === null || text === undefined) return ok(null)
  const invalid = (message: string) =>
    fail('callback_url_invalid', { metadata: { issues: [{ path, message, expected: EXPECTED }] } })
  // A URL that is parsed differently from its text would be signed and shown as one address but called at another.
  const url = WRITTEN.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null) return invalid('is not a URL')
  if (url.protocol !== 'https:') return invalid('is not HTTPS')
  if (url.username !== '' || url.password !== '') return invalid('contains a user name or password')
  const host = url.hostname.replace(/\.$/, '')
  const port = url.port === '' ? null : Number(url.port)
  const way = gate.vetted({
    host,
    port,
    purpose: 'callback',
    ...(holder !== null && { workspaceId: holder }),
  })
  if (!way.ok) return invalid('has a port or a host that is not allowed')
  const looked = await way.value.check()
  return !looked.ok && looked.failure.name === 'destination_refused'
    ? invalid('resolves to an address that is not allowed')
    : ok(null)
}

/**
 * Printable ASCII with a host directly after the two slashes, and no backslash, which some URL parsers read
 * as a slash.
 */
const WRITTEN = /^[a-z][a-z0-9+.-]*:\/\/[!-.0-[\]-~][!-[\]-~]*$/i

const EXPECTED =
  'an https: URL of a public host without credentials, on port 443 or an allowed port from 1024'
