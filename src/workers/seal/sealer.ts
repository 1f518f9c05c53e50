import { createCipheriv } from 'node:crypto'
import { detach } from '../detach.ts'
import { SEGMENT_BYTES, writeHeader } from './format.ts'
import { associatedData, deriveKeys, nonceOf } from './keys.ts'

export interface SealerOptions {
  /** 32 bytes; only read, and not kept. */
  readonly dataKey: Uint8Array
  readonly dataKeyId: string
  readonly objectId: string
  /** 32 random bytes for this sealing only: a second upload of the same file gets a new salt. */
  readonly salt: Uint8Array
}

/** Seals one object from its first byte to its last; it is never resumed. */
export interface Sealer {
  /**
   * @param chunk of any length; its bytes are not kept, so that its buffer may be reused
   * @param isFollowed more bytes are sure to come, so a full segment is not the last one and need not be copied and
   * kept until the next push
   * @returns pieces of the object to be written in this order, possibly none; the caller owns their buffers
   */
  push(chunk: Uint8Array, isFollowed?: boolean): readonly Uint8Array[]
  /** @returns the last pieces; the keys are cleared, and no further push is possible */
  finish(): readonly Uint8Array[]
  /** Clears the keys of an upload that ended early. May be called twice, and after `finish`. */
  discard(): void
}

export function createSealer({ dataKey, dataKeyId, objectId, salt }: SealerOptions): Sealer {
  const keys = deriveKeys(dataKey, salt, objectId)
  const header = writeHeader({ dataKeyId, salt, commitment: keys.commitment })
  const aad = associatedData(header, objectId)
  // A full segment is kept until another byte is sure to come: until then it may be the last one.
  const held = new Uint8Array(SEGMENT_BYTES)
  let heldBytes = 0
  let index = 0
  let isOver = false
  const seal = (plain: Uint8Array, isLast: boolean, to: Uint8Array[]): void => {
    const cipher = createCipheriv('aes-256-gcm', keys.objectKey, nonceOf(keys.noncePrefix, index++, isLast))
    cipher.setAAD(aad)
    to.push(cipher.update(plain))
    cipher.final()
    to.push(cipher.getAuthTag())
  }
  const begin = (): Uint8Array[] => {
    if (isOver) throw new Error('this encryption has already ended')
    return index === 0 && heldBytes === 0 ? [header] : []
  }
  const discard = (): void => {
    if (isOver) return
    isOver = true
    keys.wipe()
    held.fill(0)
    detach([held.buffer])
  }
  return {
    push(chunk, isFollowed = false) {
      if (chunk.length === 0 && !isOver) return []
      const pieces = begin()
      let at = 0
      // A segment is sealed when this many bytes, counted from its start, have arrived.
      const needed = isFollowed ? SEGMENT_BYTES : SEGMENT_BYTES + 1
      if (heldBytes > 0) {
        at = Math.min(SEGMENT_BYTES - heldBytes, chunk.length)
        held.set(chunk.subarray(0, at), heldBytes)
        if (heldBytes + chunk.length < needed) {
          heldBytes += at
          return pieces
        }
        seal(held, false, pieces)
      }
      for (; chunk.length - at >= needed; at += SEGMENT_BYTES)
        seal(chunk.subarray(at, at + SEGMENT_BYTES), false, pieces)
      held.set(chunk.subarray(at))
      heldBytes = chunk.length - at
      return pieces
    },
    finish() {
      const pieces = begin()
      if (index > 0 && heldBytes === 0) throw new Error('fewer bytes arrived than announced')
      seal(held.subarray(0, heldBytes), true, pieces)
      discard()
      return pieces
    },
    discard,
  }
}
