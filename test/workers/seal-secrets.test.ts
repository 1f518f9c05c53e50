import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { SealedOut, SealedValue, SealingKeys } from '../../src/server/ports/short-jobs.ts'
import { readBody } from '../../src/workers/read-body.ts'
import { copySecrets, openSecret, sealSecrets } from '../../src/workers/seal-secrets.ts'

const VAULT = { vaultId: 'v', workspaceId: 'w' }
const FACTS = { name: 'a', hosts: ['a.example', 'b.example'], version: '1' }
const key = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(32))
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const sealOne = (keys: SealingKeys, value: Uint8Array): SealedOut => {
  const [out] = sealSecrets({ vault: VAULT, keys, secrets: [{ facts: FACTS, value }] })
  if (out === undefined) throw new Error('nothing was sealed')
  return out
}
const isClear = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)

function sealed(sealing: Uint8Array, text = 'the value'): SealedValue {
  const out = sealOne({ fingerprint: key(), sealing: new Uint8Array(sealing) }, bytesOf(text))
  return {
    vault: VAULT,
    facts: FACTS,
    sealed: new Uint8Array(out.sealed),
    sealingKey: new Uint8Array(sealing),
  }
}

t.test('a task clears the keys and the values that it was given', async (t) => {
  const [keys, value, second] = [
    { fingerprint: key(), sealing: key() },
    bytesOf('the value'),
    bytesOf('another'),
  ]
  sealSecrets({
    vault: VAULT,
    keys,
    secrets: [
      { facts: FACTS, value },
      { facts: { ...FACTS, name: 'b' }, value: second },
    ],
  })
  t.ok([keys.fingerprint, keys.sealing, value, second].every(isClear))
  const [one, other] = [sealed(key()), sealed(key())]
  const to = { vault: VAULT, keys: { fingerprint: key(), sealing: key() }, versions: ['2', '3'] }
  copySecrets({ from: [one, { ...other, facts: { ...FACTS, name: 'b' } }], to })
  t.ok(
    [one.sealingKey, other.sealingKey, to.keys.fingerprint, to.keys.sealing].every(isClear),
    'also when one does not open',
  )
})

t.test('results of a task have buffers of their own, so that no other bytes move with them', async (t) => {
  const secret = sealOne({ fingerprint: key(), sealing: key() }, bytesOf('v'))
  const opened = openSecret(sealed(key()))
  for (const bytes of [secret.sealed, opened]) t.equal(bytes?.buffer.byteLength, bytes?.length)
})

t.test('two seals of one value share nothing but the fingerprint', async (t) => {
  const [fingerprint, sealing] = [key(), key()]
  const seal = () =>
    sealOne({ fingerprint: new Uint8Array(fingerprint), sealing: new Uint8Array(sealing) }, bytesOf('v'))
  const [one, other] = [seal(), seal()]
  t.equal(one.fingerprint, other.fingerprint)
  t.notSame(one.sealed, other.sealed)
})

t.test('a copy opens under its own vault, name and version alone', async (t) => {
  const sealing = key()
  const to = {
    vault: { vaultId: 'x', workspaceId: 'w' },
    keys: { fingerprint: key(), sealing: new Uint8Array(sealing) },
    versions: ['2'],
  }
  const copy = copySecrets({ from: [sealed(key())], to })?.[0]
  const open = (vault: SealedValue['vault'], version: string) =>
    openSecret({
      vault,
      facts: { ...FACTS, version },
      sealed: new Uint8Array(copy?.sealed ?? []),
      sealingKey: new Uint8Array(sealing),
    })
  t.equal(Buffer.from(open(to.vault, '2') ?? []).toString(), 'the value')
  t.equal(open(VAULT, '2'), null)
  t.equal(open(to.vault, '1'), null)
})

t.test('a body with a secret is cleared after it was read, and other bodies are not', async (t) => {
  const bodies = ['{"hosts":["a.example"],"value":"hidden"}', '{"hosts":[],"value":"hidden"}', 'hidden']
  for (const text of bodies) {
    const bytes = bytesOf(text)
    readBody({ body: 'secret', bytes })
    t.ok(isClear(bytes), text)
  }
  const bytes = bytesOf('{"names":["a"]}')
  readBody({ body: 'secret_copy', bytes })
  t.notOk(isClear(bytes))
})
