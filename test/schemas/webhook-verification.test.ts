import { randomBytes, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { secretTextOf, signatureHeaders } from '../../src/schemas/webhooks/webhook-signatures.ts'
import { verifySignatures } from '../../src/schemas/webhooks/webhook-verification.ts'
import { verifiesAsB5, verifiesAsStandard } from '../support/webhooks/webhook-verifiers.ts'

const NOW_MS = 1_800_000_000_000
const secret = secretTextOf(randomBytes(32))
const id = randomUUID()

function signed(body: Uint8Array, secrets: readonly string[] = [secret], nowMs = NOW_MS) {
  const flat = signatureHeaders({ id, timestampS: Math.floor(nowMs / 1_000), body, secrets })
  const headers: Record<string, string> = {}
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? ''
  return headers
}

t.test('a changed byte, header or secret does not verify', (t) => {
  const body = Buffer.from('{"type":"webhook.test"}')
  const headers = signed(body)
  const verify = (more: object, by = secret) =>
    verifySignatures(by, { headers, body, nowMs: NOW_MS, ...more })
  t.same(verify({}), { own: true, standard: true })
  t.same(verify({ body: Buffer.from('{"type":"webhook.tesT"}') }), { own: false, standard: false })
  t.same(verify({}, secretTextOf(randomBytes(32))), { own: false, standard: false })
  t.same(verify({ headers: { ...headers, 'webhook-id': 'msg_other' } }), { own: true, standard: false })
  t.same(verify({ headers: { ...headers, 'webhook-timestamp': '1800000001' } }), {
    own: true,
    standard: false,
  })
  const own = headers['x-sluice-signature'] ?? ''
  t.same(verify({ headers: { ...headers, 'x-sluice-signature': own.replace(/.$/, 'z') } }), {
    own: false,
    standard: true,
  })
  t.same(verify({ headers: {} }), { own: false, standard: false })
  t.end()
})

t.test('signatures that are too old or in the future do not verify', (t) => {
  const body = Buffer.from('{}')
  for (const ageMs of [301_000, -301_000])
    t.same(verifySignatures(secret, { headers: signed(body), body, nowMs: NOW_MS + ageMs }), {
      own: false,
      standard: false,
    })
  t.same(verifySignatures(secret, { headers: signed(body), body, nowMs: NOW_MS + 299_000 }), {
    own: true,
    standard: true,
  })
  t.end()
})

t.test('during the replacement of a secret, each of the two secrets verifies', (t) => {
  const other = secretTextOf(randomBytes(32))
  const body = Buffer.from('{}')
  const headers = signed(body, [other, secret])
  for (const by of [secret, other])
    t.same(verifySignatures(by, { headers, body, nowMs: NOW_MS }), { own: true, standard: true })
  t.end()
})

t.test('gives the same verdicts as verifiers that were written from the contract alone', (t) => {
  const nowMs = Date.now()
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, at, isCut) => {
      const body = Buffer.from(JSON.stringify(value))
      const headers = signed(body, [secret], nowMs)
      const name = Object.keys(headers)[at % 4] ?? ''
      const text = headers[name] ?? ''
      if (isCut) headers[name] = text.slice(0, -1 - (at % text.length))
      return isDeepStrictEqual(verifySignatures(secret, { headers, body, nowMs: Date.now() }), {
        own: verifiesAsB5(secret, headers, body),
        standard: verifiesAsStandard(secret, headers, body),
      })
    }),
    { numRuns: 1_000 },
  )
  t.end()
})
