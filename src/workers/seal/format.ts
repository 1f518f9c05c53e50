/**
 * The sealed format `SLS1`, design §5. An object is a header of 128 bytes that never changes, then one or more
 * segments of ciphertext ‖ tag (16). All but the last hold SEGMENT_BYTES of plain bytes; an empty file is one empty
 * segment. Numbers are big-endian.
 *
 * | at | bytes | what |
 * |---|---|---|
 * | 0 | 4 | magic `SLS1` |
 * | 4 | 1 | version, 1 |
 * | 5 | 1 | suite, 1 = HKDF-SHA-256 and AES-256-GCM |
 * | 6 | 2 | zero |
 * | 8 | 16 | id of the data key, a UUID |
 * | 24 | 4 | plain bytes of a segment, 65,536 |
 * | 28 | 4 | zero |
 * | 32 | 32 | salt, random for each sealing |
 * | 64 | 32 | commitment to the object key |
 * | 96 | 32 | zero |
 */
export const HEADER_BYTES = 128
/** Plain bytes of every segment except the last. */
export const SEGMENT_BYTES = 65_536
/** Bytes of the tag after each segment's ciphertext. */
export const TAG_BYTES = 16
export const SALT_BYTES = 32
export const COMMITMENT_BYTES = 32
export const DATA_KEY_BYTES = 32

const MAGIC = 'SLS1'
const VERSION = 1
const SUITE = 1
const AT = {
  version: 4,
  suite: 5,
  dataKeyId: 8,
  segmentBytes: 24,
  salt: 32,
  commitment: 64,
  end: 96,
} as const
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** The index of a segment has four bytes in the nonce. */
const SEGMENTS_MAX = 2 ** 32

export interface Header {
  /** Lower-case UUID. */
  readonly dataKeyId: string
  readonly salt: Uint8Array
  readonly commitment: Uint8Array
}

export function writeHeader({ dataKeyId, salt, commitment }: Header): Buffer {
  if (!UUID.test(dataKeyId)) throw new RangeError('the id of a data key must be a lower-case UUID')
  if (salt.length !== SALT_BYTES || commitment.length !== COMMITMENT_BYTES)
    throw new RangeError('salt and commitment must be 32 bytes')
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 0, 'latin1')
  header[AT.version] = VERSION
  header[AT.suite] = SUITE
  header.write(dataKeyId.replaceAll('-', ''), AT.dataKeyId, 'hex')
  header.writeUInt32BE(SEGMENT_BYTES, AT.segmentBytes)
  header.set(salt, AT.salt)
  header.set(commitment, AT.commitment)
  return header
}

/** @returns null unless the bytes are the only header that `writeHeader` creates from these values */
export function readHeader(bytes: Uint8Array): Header | null {
  if (bytes.length !== HEADER_BYTES) return null
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const header: Header = {
    dataKeyId: at
      .toString('hex', AT.dataKeyId, AT.segmentBytes)
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    salt: Uint8Array.prototype.slice.call(bytes, AT.salt, AT.commitment),
    commitment: Uint8Array.prototype.slice.call(bytes, AT.commitment, AT.end),
  }
  return writeHeader(header).equals(bytes) ? header : null
}

/** The structure of an object with a known plain size. */
export interface Layout {
  readonly sizeBytes: number
  /** At least 1; exactly the last segment is marked as the last. */
  readonly segmentCount: number
  /** Length of the whole object. Any other length is refused before a segment is read. */
  readonly objectBytes: number
}

/** @param sizeBytes plain bytes, from the row of the file: never from the object itself */
export function layoutOf(sizeBytes: number): Layout {
  const segmentCount = Math.max(1, Math.ceil(sizeBytes / SEGMENT_BYTES))
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0 || segmentCount > SEGMENTS_MAX)
    throw new RangeError(`invalid file size: ${sizeBytes}`)
  return { sizeBytes, segmentCount, objectBytes: HEADER_BYTES + sizeBytes + segmentCount * TAG_BYTES }
}

/** Plain bytes of a segment. */
export function plainBytesOf(layout: Layout, index: number): number {
  return index === layout.segmentCount - 1 ? layout.sizeBytes - index * SEGMENT_BYTES : SEGMENT_BYTES
}
