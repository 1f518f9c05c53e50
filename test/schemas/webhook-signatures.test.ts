import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import {
  secretTextOf,
  signatureHeaders,
  WEBHOOK_SECRET_PREFIX,
  type SignedDelivery,
} from '../../src/schemas/webhooks/webhook-signatures.ts'
import { verifiesAsB5, verifiesAsStandard } from '../support/webhooks/webhook-verifiers.ts'
import { WEBHOOK_SECRET_BYTES } from '../../src/server/vault/webhook-secrets.ts'

const BODY = Buffer.from('{"type":"video.generation.completed","data":{"text":"é\\u2028,."}}')

function secret(): string {
  return secretTextOf(randomBytes(WEBHOOK_SECRET_BYTES))
}

function headers(secrets: readonly string[], more: Partial<SignedDelivery> = {}): Record<string, string> {
  const flat = signatureHeaders({
    id: randomUUID(),
    timestampS: Math.floor(Date.now() / 1_000),
    body: BODY,
    secrets,
    ...more,
  })
  return Object.fromEntries(flat.flatMap((name, nth) => (nth % 2 === 0 ? [[name, flat[nth + 1] ?? '']] : [])))
}

t.test('a secret consists of `whsec_` and the base64 of its bytes', async (t) => {
  const text = secret()
  t.match(text, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(Buffer.from(text.slice(WEBHOOK_SECRET_PREFIX.length), 'base64').length, 32)
})

t.test('signatures of both forms match values that were computed independently', async (t) => {
  const known = headers(['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'], {
    id: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
    timestampS: 1_700_000_000,
    body: Buffer.from('{"a":1}'),
  })
  t.same(known, {
    'x-sluice-signature': 't=1700000000,v1=ada25e5ef10b9626fe4547120f27c0583e83f70b51309d4dbd9a0d1365649ce9',
    'webhook-id': 'msg_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
    'webhook-timestamp': '1700000000',
    'webhook-signature': 'v1,L8RdJATrMJ/yEVdXjJTEeF9GOPWrnf/xPpsyBDkZqRo=',
  })
})

t.test('signatures of both forms verify with the secret that signed them, and with no other', async (t) => {
  const own = secret()
  const signed = headers([own])
  t.ok(verifiesAsB5(own, signed, BODY))
  t.ok(verifiesAsStandard(own, signed, BODY))
  t.notOk(verifiesAsB5(secret(), signed, BODY))
  t.notOk(verifiesAsStandard(secret(), signed, BODY))
})

t.test('neither form verifies with another body, id or time', async (t) => {
  const own = secret()
  const signed = headers([own])
  const other = Buffer.from(BODY)
  other.writeUInt8(0x20, 0)
  t.notOk(verifiesAsB5(own, signed, other))
  t.notOk(verifiesAsStandard(own, signed, other))
  t.notOk(verifiesAsStandard(own, { ...signed, 'webhook-id': `msg_${randomUUID()}` }, BODY))
  const later = Math.floor(Date.now() / 1_000) + 1
  t.notOk(verifiesAsStandard(own, { ...signed, 'webhook-timestamp': String(later) }, BODY))
  t.notOk(
    verifiesAsB5(
      own,
      { 'x-sluice-signature': String(signed['x-sluice-signature']).replace(/^t=\d+/, `t=${later}`) },
      BODY,
    ),
  )
})

t.test('during the replacement of a secret both forms verify with the old and the new secret', async (t) => {
  const [fresh, old] = [secret(), secret()]
  const signed = headers([fresh, old])
  for (const one of [fresh, old]) {
    t.ok(verifiesAsB5(one, signed, BODY))
    t.ok(verifiesAsStandard(one, signed, BODY))
  }
  t.match(signed['x-sluice-signature'], /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  t.match(signed['webhook-signature'], /^v1,\S+ v1,\S+$/)
})
