/** Two ways in which a receiver finds out who sent a body. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Seconds that a signature may be old, or come from the future. B5. */
const AGE_S_MAX = 300

/**
 * Written from B5 alone: `t=<unix seconds>,v1=<hex>`, HMAC-SHA-256 over `<t>,<body>` with the secret as text.
 */
export function verifiesAsB5(
  secret: string,
  headers: Headers,
  body: Uint8Array,
  nowMs: number = Date.now(),
): boolean {
  const parts = String(headers['x-sluice-signature'])
    .split(',')
    .map((part) => part.split('=', 2) as [string, string?])
  const t = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d+$/.test(t) || Math.abs(nowMs / 1_000 - Number(t)) > AGE_S_MAX) return false
  const wanted = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${t},`), body]))
    .digest()
  return parts.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex')
    return name === 'v1' && /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(given, wanted)
  })
}

/** The verifier that is published for Standard Webhooks. */
export function verifiesAsStandard(secret: string, headers: Headers, body: Uint8Array): boolean {
  try {
    new Webhook(secret).verify(Buffer.from(body), headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}
