import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const LABEL = 'sluice envelope 1'
const KEY_BYTES = 32
const SALT_BYTES = 32
const COMMITMENT_BYTES = 32
const TAG_BYTES = 16
/** A constant nonce is safe: each envelope has a key of its own, which seals once. */
const NONCE = Buffer.alloc(12)

/**
 * Seals a small value: salt (32) ‖ commitment (32) ‖ ciphertext ‖ tag (16), with a key and a commitment of
 * HKDF-SHA-256(sealing key, salt, label ‖ SHA-256(aad)). Design §8.
 * @param aad the data that the value is bound to, as `lengthPrefixed` writes it
 */
export function sealValue(sealingKey: Uint8Array, plain: Uint8Array, aad: Uint8Array): Buffer {
  const salt = randomBytes(SALT_BYTES)
  const { key, commitment, wipe } = derive(sealingKey, salt, aad)
  const cipher = createCipheriv('aes-256-gcm', key, NONCE).setAAD(aad)
  const sealed = Buffer.concat([salt, commitment, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  wipe()
  return sealed
}

/** @returns null when the value was sealed with another key or bound to other data, or is damaged */
export function openValue(sealingKey: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Buffer | null {
  const start = SALT_BYTES + COMMITMENT_BYTES
  if (sealed.length < start + TAG_BYTES) return null
  const { key, commitment, wipe } = derive(sealingKey, sealed.subarray(0, SALT_BYTES), aad)
  try {
    if (!timingSafeEqual(commitment, sealed.subarray(SALT_BYTES, start))) return null
    return open(key, sealed.subarray(start), aad)
  } finally {
    wipe()
  }
}

/** Bytes of the sealed value, computed without opening it. */
export function valueBytesOf(sealed: Uint8Array): number {
  return Math.max(0, sealed.length - SALT_BYTES - COMMITMENT_BYTES - TAG_BYTES)
}

/** Joins texts without ambiguity: the length of each text (4 bytes) precedes it. */
export function lengthPrefixed(...texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}

function open(key: Uint8Array, bytes: Uint8Array, aad: Uint8Array): Buffer | null {
  const end = bytes.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, NONCE, { authTagLength: TAG_BYTES })
  decipher.setAAD(aad)
  decipher.setAuthTag(bytes.subarray(end))
  const plain = decipher.update(bytes.subarray(0, end))
  try {
    decipher.final()
    return plain
  } catch {
    plain.fill(0)
    return null
  }
}

function derive(
  sealingKey: Uint8Array,
  salt: Uint8Array,
  aad: Uint8Array,
): { key: Uint8Array; commitment: Uint8Array; wipe: () => void } {
  const info = Buffer.concat([Buffer.from(LABEL), createHash('sha256').update(aad).digest()])
  const block = new Uint8Array(hkdfSync('sha256', sealingKey, salt, info, KEY_BYTES + COMMITMENT_BYTES))
  return {
    key: block.subarray(0, KEY_BYTES),
    commitment: block.subarray(KEY_BYTES),
    wipe: () => void block.fill(0),
  }
}
