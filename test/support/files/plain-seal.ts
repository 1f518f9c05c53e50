/**
 * `SLS1` written a second time from design §5 alone, whole objects at once: the oracle of the sealed format.
 */
import { createCipheriv, createHash, createHmac } from 'node:crypto'

export interface PlainSeal {
  readonly dataKey: Buffer
  readonly dataKeyId: string
  readonly objectId: string
  readonly salt: Buffer
}

const SEGMENT = 65_536

export function sealPlainly(seal: PlainSeal, content: Buffer): Buffer {
  const okm = hkdf(seal.dataKey, seal.salt, Buffer.from(`SLS1${seal.objectId}`), 71)
  const header = Buffer.concat([
    Buffer.from('SLS1'),
    Buffer.from([1, 1, 0, 0]),
    Buffer.from(seal.dataKeyId.replace(/-/g, ''), 'hex'),
    Buffer.from([0, 1, 0, 0, 0, 0, 0, 0]),
    seal.salt,
    okm.subarray(32, 64),
    Buffer.alloc(32),
  ])
  const aad = Buffer.concat([createHash('sha256').update(header).digest(), Buffer.from(seal.objectId)])
  const segments: Buffer[] = []
  for (let at = 0; at === 0 || at < content.length; at += SEGMENT) {
    const isLast = at + SEGMENT >= content.length
    const nonce = Buffer.concat([okm.subarray(64), Buffer.from([0, 0, 0, 0, isLast ? 1 : 0])])
    nonce.writeUInt32BE(at / SEGMENT, 7)
    const cipher = createCipheriv('aes-256-gcm', okm.subarray(0, 32), nonce).setAAD(aad)
    segments.push(cipher.update(content.subarray(at, at + SEGMENT)), cipher.final(), cipher.getAuthTag())
  }
  return Buffer.concat([header, ...segments])
}

/** RFC 5869. */
function hkdf(key: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  const prk = createHmac('sha256', salt).update(key).digest()
  let block = Buffer.alloc(0)
  let out = Buffer.alloc(0)
  for (let nth = 1; out.length < bytes; nth++) {
    block = createHmac('sha256', prk)
      .update(block)
      .update(info)
      .update(Buffer.from([nth]))
      .digest()
    out = Buffer.concat([out, block])
  }
  return out.subarray(0, bytes)
}
