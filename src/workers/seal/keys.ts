import { createHash, hkdfSync } from 'node:crypto'
import { COMMITMENT_BYTES, DATA_KEY_BYTES, SALT_BYTES } from './format.ts'

const OBJECT_KEY_BYTES = 32
const PREFIX_BYTES = 7
const NONCE_BYTES = 12
const LABEL = 'SLS1'
/** HKDF takes at most 1,024 bytes of info. */
const OBJECT_ID_BYTES_MAX = 512

/** The keys of one object. All are views of one block, which `wipe` clears. */
export interface ObjectKeys {
  readonly objectKey: Uint8Array
  readonly commitment: Uint8Array
  readonly noncePrefix: Uint8Array
  wipe(): void
}

/**
 * HKDF-SHA-256(data key, salt, "SLS1" ‖ object id): object key (32), commitment (32), nonce prefix (7).
 * Design §5. The data key is only read: the caller clears it.
 */
export function deriveKeys(dataKey: Uint8Array, salt: Uint8Array, objectId: string): ObjectKeys {
  const id = Buffer.from(objectId)
  if (dataKey.length !== DATA_KEY_BYTES || salt.length !== SALT_BYTES)
    throw new RangeError('data key and salt must be 32 bytes')
  if (id.length === 0 || id.length > OBJECT_ID_BYTES_MAX)
    throw new RangeError('an object id must have 1 to 512 bytes')
  const info = Buffer.concat([Buffer.from(LABEL), id])
  const block = new Uint8Array(
    hkdfSync('sha256', dataKey, salt, info, OBJECT_KEY_BYTES + COMMITMENT_BYTES + PREFIX_BYTES),
  )
  return {
    objectKey: block.subarray(0, OBJECT_KEY_BYTES),
    commitment: block.subarray(OBJECT_KEY_BYTES, OBJECT_KEY_BYTES + COMMITMENT_BYTES),
    noncePrefix: block.subarray(OBJECT_KEY_BYTES + COMMITMENT_BYTES),
    wipe: () => void block.fill(0),
  }
}

/** prefix (7) ‖ segment index (4) ‖ 1 for the last segment, else 0. */
export function nonceOf(prefix: Uint8Array, index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.set(prefix)
  nonce.writeUInt32BE(index, PREFIX_BYTES)
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0
  return nonce
}

/** SHA-256(header) ‖ object id, the same for every segment of an object. */
export function associatedData(header: Uint8Array, objectId: string): Buffer {
  return Buffer.concat([createHash('sha256').update(header).digest(), Buffer.from(objectId)])
}
