import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Egress } from '../../ports/egress.ts'

/**
 * Whether webhooks may go to an address, as far as that can be told now: HTTPS, no credentials, a port and a host that
 * the gate lets anybody go to, and no name that leads to an address that is not public. A name that does not resolve at
 * this moment, or cannot be looked up, is accepted: every delivery is vetted again. Null is no address.
 * @param path of the member, for the failure
 * Failure: callback_url_invalid. C17.
 */
export async function checkCallbackUrl(text: string | null | undefined, path: string, egress: Pick<Egress, 'vetted'>): Promise<Outcome<null>> {
  if (text === null || text === undefined) return ok(null)
  const invalid = (message: string) => fail('callback_url_invalid', { metadata: { issues: [{ path, message, expected: EXPECTED }] } })
  // A URL that is written otherwise than it is read would be signed and shown as one and sent to as another.
  const url = /^[!-~]+$/.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return invalid('is not one')
  const host = url.hostname.replace(/\.$/, '')
  const way = egress.vetted({ host, port: url.port === '' ? null : Number(url.port), purpose: 'callback' })
  if (!way.ok) return invalid('is not allowed')
  const looked = await way.value.check()
  return !looked.ok && looked.failure.name === 'destination_refused' ? invalid('is not allowed') : ok(null)
}

const EXPECTED = 'an https: address without credentials, on 443 or a port from 1024 that is not refused, of a public host'
