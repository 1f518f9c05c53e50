import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { lengthPrefixed } from './envelope.ts'
import type { RootKeys } from './root-keys.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Bytes of a wrapped key before wrapping. */
export const KEY_BYTES = 32

/** The place to which a wrapped key is bound: a key that was moved to another owner, purpose or id does not open. */
export interface KeyPlace {
  readonly id: string
  /** The workspace of a data key, or the vault of a vault's key. */
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

interface NewKey<Purpose> {
  readonly id: string
  readonly purpose: Purpose
  readonly rootKeyId: string
  readonly wrapped: Buffer
}

/**
 * Makes a random key for an owner, wrapped by the current root key; no unwrapped copy is left when this
 * returns.
 * @returns null when the current root key is not present
 */
export function newWrappedKey<Purpose extends string>(
  rootKeys: Pick<RootKeys, 'currentId' | 'get'>,
  ownerId: string,
  purpose: Purpose,
): NewKey<Purpose> | null {
  const rootKeyId = rootKeys.currentId
  const rootKey = rootKeys.get(rootKeyId)
  if (rootKey === undefined) return null
  const place = { id: randomUUID(), purpose, rootKeyId }
  const key = randomBytes(KEY_BYTES)
  const wrapped = wrapKey(rootKey, key, { ...place, ownerId })
  key.fill(0)
  return { ...place, wrapped }
}

/** @returns null when the key was wrapped with another root key or for another place, or is damaged */
export function unwrapKey(rootKey: Uint8Array, wrapped: Uint8Array, place: KeyPlace): Buffer | null {
  if (wrapped.length !== NONCE_BYTES + KEY_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', rootKey, wrapped.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
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
