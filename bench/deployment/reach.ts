/** Checks that a deployment can be reached and accepts the key, before any load. */
import { lookup } from 'node:dns/promises'
import { askerOf, type Answer, type AskOutcome, type Place, type Question } from './ask.ts'
import { ADDRESSES_MAX, REACH_MS } from './limits.ts'
import type { Origin } from './origin.ts'
import { refusalText, withoutKey } from './refusal-text.ts'

export type Reached = { readonly place: Place } | { readonly problem: string }

/**
 * Looks the name up once and keeps the first address that answers: the load goes to the same address.
 * @param first request that must be answered with 200
 * @returns the reason in one line why there can be no load; the text contains neither the key nor the
 * server's description of itself
 */
export async function reach(
  origin: Origin,
  secrets: Pick<Place, 'key' | 'issuers'>,
  first: Question,
): Promise<Reached> {
  return reachable(origin, secrets, async (place) => {
    const asker = askerOf(place, 1)
    const outcome = await asker.ask(first, REACH_MS)
    asker.close()
    const isGood = 'answer' in outcome && outcome.answer.status === 200
    return { outcome, problem: isGood ? null : problemOf(outcome, place) }
  })
}

interface Tried {
  readonly outcome: AskOutcome
  /** Null: the place may get the load. */
  readonly problem: string | null
}

/** As `reach`, with a first request of any kind. */
export async function reachable(
  origin: Origin,
  secrets: Pick<Place, 'key' | 'issuers'>,
  attempt: (place: Place) => Promise<Tried>,
): Promise<Reached> {
  const addresses = await lookup(origin.hostname, { all: true }).catch(
    (error: NodeJS.ErrnoException) => error.code ?? 'ERROR',
  )
  if (typeof addresses === 'string')
    return { problem: `the name ${origin.hostname} cannot be found (DNS: ${addresses})` }
  let last = `the name ${origin.hostname} has no address`
  for (const { address } of addresses.slice(0, ADDRESSES_MAX)) {
    const place = { ...secrets, origin, address }
    const { outcome, problem } = await attempt(place)
    if (problem === null) return { place }
    last = problem
    if ('answer' in outcome || !NOBODY.has(outcome.code)) break
  }
  return { problem: last }
}

/** Codes of an address without a server; another address of the name may have one. */
const NOBODY = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT'])

/** @param ms that the request could take */
export function problemOf(
  outcome: AskOutcome,
  { origin, key }: Pick<Place, 'origin' | 'key'>,
  ms = REACH_MS,
): string {
  const text = 'answer' in outcome ? answered(outcome.answer, origin) : unanswered(outcome.code, ms)
  // The host of a redirect is a text of the server, which may repeat the key.
  return `${origin.text} ${withoutKey(text, key)}`
}

function answered({ status, headers, text }: Answer, origin: Origin): string {
  if (status >= 300 && status < 400) {
    const to = URL.canParse(headers.location ?? '', origin.text)
      ? new URL(headers.location ?? '', origin.text).origin
      : 'nowhere'
    const elsewhere = to === origin.text ? 'to another path' : `to ${to}`
    return `redirects (${status}) ${elsewhere}, which is not followed: give the origin that answers itself`
  }
  if (status === 401 || status === 403) return `refuses the key (${status})`
  if (status === 404)
    return 'knows no such path or model (404): is it Sluice, and does it have the model of --model?'
  if (status === 429) return 'limits the rate of this key already (429): wait, or give a key without a limit'
  const message = refusalText(text)
  return `answers ${status} to the first request${message === null ? '' : `: ${message}`}`
}

function unanswered(code: string, ms: number): string {
  if (code === 'TIMEOUT' || code === 'ETIMEDOUT') return `does not answer within ${ms / 1_000} s`
  if (code === 'ECONNREFUSED') return 'refuses connections (ECONNREFUSED)'
  if (code === 'ECONNRESET' || code === 'EPIPE') return `hangs up before it has answered (${code})`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'has a certificate for another name'
  if (code === 'CERT_HAS_EXPIRED') return 'has a certificate whose time is over'
  if (/^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/.test(code))
    return `has a certificate that is not trusted (${code}): --ca FILE names its issuer`
  if (/^(?:EPROTO|ERR_SSL|ERR_TLS)/.test(code))
    return `does not speak TLS as it should (${code}): is it http://?`
  if (/^HPE_/.test(code)) return `does not speak HTTP (${code}): is it https://?`
  return `cannot be asked (${code})`
}
