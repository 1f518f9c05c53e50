import { createDecipheriv, timingSafeEqual } from 'node:crypto'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { layoutOf, plainBytesOf, readHeader, HEADER_BYTES, SEGMENT_BYTES, TAG_BYTES } from './format.ts'
import { associatedData, deriveKeys, nonceOf } from './keys.ts'

export interface OpenerOptions {
  /** 32 bytes; only read, and not kept. */
  readonly dataKey: Uint8Array
  /** From the row; the header must name the same id. */
  readonly dataKeyId: string
  readonly objectId: string
  /** Plain bytes, from the row. */
  readonly sizeBytes: number
  /** Length of the object in storage. */
  readonly objectBytes: number
  /** The first HEADER_BYTES of the object. */
  readonly header: Uint8Array
}

/** The part of an object that contains a range of plain bytes; it consists of whole segments. */
export interface RangePlan {
  readonly firstSegment: number
  readonly lastSegment: number
  /** Bytes of the object: from `from` to `to`, without the byte at `to`. */
  readonly from: number
  readonly to: number
  /** Plain bytes to skip at the beginning of the first segment. */
  readonly skipBytes: number
  /** Plain bytes of the range. */
  readonly plainBytes: number
}

export interface Opener {
  /** @param start first plain byte @param end the byte after the last: 0 ≤ start ≤ end ≤ size */
  openRange(start: number, end: number): RangePlan
  /** Bytes of a segment in the object, its tag included. */
  sealedBytesOf(index: number): number
  /** @param bytes exactly the stored segment @returns its plain bytes, or `content_damaged`: then none of them was released */
  openSegment(index: number, bytes: Uint8Array): Outcome<Buffer>
  /** Clears the keys. May be called more than once. */
  discard(): void
}

/** Checks length, header and commitment before opening a segment. Failure: content_damaged. Design §5. */
export function createOpener(options: OpenerOptions): Outcome<Opener> {
  const { dataKey, dataKeyId, objectId, objectBytes, header } = options
  const layout = layoutOf(options.sizeBytes)
  if (objectBytes !== layout.objectBytes) return damaged('the length differs from the database record')
  const known = readHeader(header)
  if (known === null) return damaged('the header is invalid')
  if (known.dataKeyId !== dataKeyId) return damaged('the header names another data key')
  const keys = deriveKeys(dataKey, known.salt, objectId)
  // GCM does not commit to its key: a ciphertext can be crafted that opens under two keys.
  if (!timingSafeEqual(keys.commitment, known.commitment)) {
    keys.wipe()
    return damaged('the object was sealed with another key or for another object')
  }
  const aad = associatedData(header, objectId)
  const lastIndex = layout.segmentCount - 1
  let isOver = false
  const sealedBytesOf = (index: number): number => plainBytesOf(layout, index) + TAG_BYTES
  return ok({
    openRange: (start, end) => rangePlan(start, end, options.sizeBytes),
    sealedBytesOf,
    openSegment(index, bytes) {
      if (isOver) throw new Error('the keys of this object were already cleared')
      if (!Number.isInteger(index) || index < 0 || index > lastIndex)
        return damaged('the object has no such segment')
      if (bytes.length !== sealedBytesOf(index)) return damaged('a segment has the wrong length')
      return openOne(keys.objectKey, nonceOf(keys.noncePrefix, index, index === lastIndex), aad, bytes)
    },
    discard() {
      isOver = true
      keys.wipe()
    },
  })
}

function openOne(
  objectKey: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  bytes: Uint8Array,
): Outcome<Buffer> {
  const decipher = createDecipheriv('aes-256-gcm', objectKey, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(aad)
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
  const plain = decipher.update(bytes.subarray(0, bytes.length - TAG_BYTES))
  try {
    decipher.final()
    return ok(plain)
  } catch {
    plain.fill(0)
    return damaged('a segment failed verification')
  }
}

/** The part of an object with `sizeBytes` plain bytes that contains a range of them. */
export function rangePlan(start: number, end: number, sizeBytes: number): RangePlan {
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || start > end || end > sizeBytes) {
    throw new RangeError(`invalid range: ${start} to ${end} of ${sizeBytes}`)
  }
  const { segmentCount } = layoutOf(sizeBytes)
  // An empty range at the very end still opens the last segment: every reply is checked.
  const firstSegment = Math.min(Math.floor(start / SEGMENT_BYTES), segmentCount - 1)
  const lastSegment = Math.max(firstSegment, Math.ceil(end / SEGMENT_BYTES) - 1)
  const sealedStart = (index: number): number => HEADER_BYTES + index * (SEGMENT_BYTES + TAG_BYTES)
  return {
    firstSegment,
    lastSegment,
    from: sealedStart(firstSegment),
    to: lastSegment === segmentCount - 1 ? layoutOf(sizeBytes).objectBytes : sealedStart(lastSegment + 1),
    skipBytes: start - firstSegment * SEGMENT_BYTES,
    plainBytes: end - start,
  }
}

export function damaged(why: string): { readonly ok: false; readonly failure: Failure } {
  return fail('content_damaged', { cause: new Error(`the sealed object cannot be decrypted: ${why}`) })
}
