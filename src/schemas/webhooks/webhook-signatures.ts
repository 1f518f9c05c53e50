import { createHmac } from 'node:crypto'

/** Precedes the base64 of a signing secret's bytes, as in Standard Webhooks. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_'

export interface SignedDelivery {
  /** UUID of the delivery: the same on every attempt. */
  readonly id: string
  /** Unix time of the attempt, whole seconds. */
  readonly timestampS: number
  readonly body: Uint8Array
  /** Texts of the secrets that sign now, the newest first. */
  readonly secrets: readonly string[]
}

/**
 * The headers with which a receiver verifies the sender of a body: those of B5 (`t=<seconds>,v1=<hex>` over
 * `<seconds>,<body>`, keyed with the secret's text) and those of Standard Webhooks (`v1,<base64>` over
 * `<id>.<seconds>.<body>`, keyed with the decoded bytes). During the rotation of a secret there is one
 * signature for each secret.
 * @returns flat list of names and values
 */
export function signatureHeaders({ id, timestampS, body, secrets }: SignedDelivery): readonly string[] {
  const messageId = `msg_${id}`
  const own = secrets.map((secret) => `v1=${signed(secret, `${timestampS},`, body).digest('hex')}`)
  const standard = secrets.map(
    (secret) => `v1,${signed(bytesOf(secret), `${messageId}.${timestampS}.`, body).digest('base64')}`,
  )
  return [
    'x-sluice-signature',
    [`t=${timestampS}`, ...own].join(','),
    'webhook-id',
    messageId,
    'webhook-timestamp',
    String(timestampS),
    'webhook-signature',
    standard.join(' '),
  ]
}

export function secretTextOf(bytes: Uint8Array): string {
  return WEBHOOK_SECRET_PREFIX + Buffer.from(bytes).toString('base64')
}

function bytesOf(secret: string): Buffer {
  return Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
}

/** Signs the prefix and then the body's bytes, without decoding the body to a text. */
function signed(key: string | Uint8Array, prefix: string, body: Uint8Array): ReturnType<typeof createHmac> {
  return createHmac('sha256', key).update(prefix).update(body)
}
