import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { lengthPrefixed } from './envelope.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** What a wrapped key is bound to: moved to another owner, purpose or id, it does not open. */
export interface KeyPlace {
  readonly id: string
  /** The workspace of a data key, the vault of a vault's key. */
  readonly ownerId: string
  readonly purpose: string
  readonly rootKeyId: string
}

/** AES-256-GCM: nonce (12) ‖ ciphertext (32) ‖ tag (16). */
export function wrapKey(rootKey: Uint8Array, key: Uint8Array, place: KeyPlace): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', rootKey, nonce).setAAD(boundTo(place))
  return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()])
}

/** @returns null when it was wrapped with another key or for another place, or is damaged */
export function unwrapKey(rootKey: Uint8Array, wrapped: Uint8Array, place: KeyPlace): Buffer | null {
  if (wrapped.length !== NONCE_BYTES + KEY_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', rootKey, wrapped.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo(place))
  decipher.setAuthTag(wrapped.subarray(NONCE_BYTES + KEY_BYTES))
  const key = decipher.update(wrapped.subarray(NONCE_BYTES, NONCE_BYTES + KEY_BYTES))
  try {
    decipher.final()
    return key
  } catch {
    key.fill(0)
    return null
  }
}

function boundTo({ id, ownerId, purpose, rootKeyId }: KeyPlace): Buffer {
  return lengthPrefixed('sluice data key', ownerId, purpose, id, rootKeyId)
}
