import { createHmac, timingSafeEqual } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from './webhook-signatures.ts'

/** Seconds by which a signature's time may differ from the receiver's clock. */
const AGE_S_MAX = 300

export interface ReceivedDelivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The raw bytes. */
  readonly body: Uint8Array
  /** Milliseconds of the receiver's clock, as `Date.now`. */
  readonly nowMs: number
}

/** For each of the two forms, whether the signature is valid. */
export interface Verified {
  /** `x-sluice-signature`. */
  readonly own: boolean
  /** `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks. */
  readonly standard: boolean
}

/** Verifies both signatures of a delivery with one signing secret, given as text. */
export function verifySignatures(secret: string, received: ReceivedDelivery): Verified {
  return { own: isOwn(secret, received), standard: isStandard(secret, received) }
}

function isOwn(secret: string, { headers, body, nowMs }: ReceivedDelivery): boolean {
  const parts = (headers['x-sluice-signature'] ?? '').split(',').map((part) => part.split('=', 2))
  const t = parts.find(([name]) => name === 't')?.[1] ?? ''
  const wanted = createHmac('sha256', secret).update(`${t},`).update(body).digest('hex')
  const isSigned = parts.some(([name, hex = '']) => name === 'v1' && isSame(hex, wanted))
  return isRecent(t, nowMs) && isSigned
}

function isStandard(secret: string, { headers, body, nowMs }: ReceivedDelivery): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': t = '', 'webhook-signature': signed = '' } = headers
  const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
  const wanted = createHmac('sha256', key).update(`${id}.${t}.`).update(body).digest('base64')
  const isSigned = signed.split(' ').some((one) => isSame(one, `v1,${wanted}`))
  return isRecent(t, nowMs) && isSigned
}

function isRecent(t: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(t) && Math.abs(nowMs / 1_000 - Number(t)) <= AGE_S_MAX
}

/** Compares the texts, so that other encodings of the same bytes are not accepted. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}
