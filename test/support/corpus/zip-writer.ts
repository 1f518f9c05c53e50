import { crc32, deflateRawSync } from 'node:zlib'
import { bytes, u16le, u32le, u64le } from './bytes.ts'

/** How an entry is written. The defaults are those of a plain writer: deflated, sizes in the header. */
export interface EntryOptions {
  readonly name: string
  readonly data: Uint8Array
  readonly isStored?: boolean
  /** Sizes after the data: with or without a signature, of 32 or 64 bits. */
  readonly descriptor?: 'signed' | 'bare' | 'signed64' | 'bare64'
  readonly zip64?: boolean
  readonly flags?: number
  /** Names other sizes than there are, in the directory. */
  readonly claimsPlainBytes?: number
  readonly extra?: Uint8Array
}

export interface ZipOptions {
  readonly comment?: string
  readonly zip64?: boolean
  /** Puts the directory's lines in another order, leaves some out or repeats them. */
  readonly order?: (lines: Buffer[]) => Buffer[]
  /** Bytes between the entries and the directory. */
  readonly gap?: Uint8Array
}

/** A zip archive written by the format's definition, independent of the scanner. */
export function zip(entries: readonly EntryOptions[], options: ZipOptions = {}): Buffer {
  const locals: Buffer[] = []
  const lines: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const written = writeEntry(entry, offset)
    locals.push(written.local)
    lines.push(written.line)
    offset += written.local.length
  }
  const gap = options.gap ?? bytes()
  const ordered = options.order?.(lines) ?? lines
  const directory = bytes(...ordered)
  return bytes(
    ...locals,
    gap,
    directory,
    endRecords(ordered.length, directory.length, offset + gap.length, options),
  )
}

function writeEntry(entry: EntryOptions, offset: number): { local: Buffer; line: Buffer } {
  const isStored = entry.isStored === true
  const packed = isStored ? Buffer.from(entry.data) : deflateRawSync(entry.data)
  const isWide = entry.zip64 === true
  const isStreamed = entry.descriptor !== undefined
  const flags = (entry.flags ?? 0) | (isStreamed ? 8 : 0)
  const crc = u32le(crc32(entry.data))
  const name = Buffer.from(entry.name)
  const head = [u16le(20), u16le(flags), u16le(isStored ? 0 : 8), u16le(0), u16le(0x5a21)]
  const [packedBytes, plainBytes] = [packed.length, entry.claimsPlainBytes ?? entry.data.length]
  const short = (value: number): Buffer => u32le(isWide ? 0xffffffff : value)
  const wide = (...values: number[]): Buffer =>
    isWide ? bytes(u16le(1), u16le(8 * values.length), ...values.map(u64le)) : bytes()
  const plainExtra = entry.extra ?? bytes()
  const localExtra = bytes(plainExtra, isStreamed ? bytes() : wide(plainBytes, packedBytes))
  const lineExtra = bytes(plainExtra, wide(plainBytes, packedBytes, offset))
  const sizes = isStreamed ? [u32le(0), u32le(0), u32le(0)] : [crc, short(packedBytes), short(plainBytes)]
  return {
    local: bytes(
      'PK\x03\x04',
      ...head,
      ...sizes,
      u16le(name.length),
      u16le(localExtra.length),
      name,
      localExtra,
      packed,
      descriptor(entry, crc, packedBytes),
    ),
    line: bytes(
      'PK\x01\x02',
      u16le(20),
      ...head,
      crc,
      short(packedBytes),
      short(plainBytes),
      u16le(name.length),
      u16le(lineExtra.length),
      u16le(0),
      u16le(0),
      u16le(0),
      u32le(0),
      short(offset),
      name,
      lineExtra,
    ),
  }
}

function descriptor(entry: EntryOptions, crc: Buffer, packedBytes: number): Buffer {
  if (entry.descriptor === undefined) return bytes()
  const size = entry.descriptor.endsWith('64') ? u64le : u32le
  const signature = entry.descriptor.startsWith('signed') ? 'PK\x07\x08' : ''
  return bytes(signature, crc, size(packedBytes), size(entry.data.length))
}

export function endRecords(
  count: number,
  directoryBytes: number,
  offset: number,
  options: ZipOptions = {},
): Buffer {
  const comment = options.comment ?? ''
  const isWide = options.zip64 === true
  const wide = isWide
    ? bytes(
        'PK\x06\x06',
        u64le(44),
        u16le(45),
        u16le(45),
        u32le(0),
        u32le(0),
        u64le(count),
        u64le(count),
        u64le(directoryBytes),
        u64le(offset),
        'PK\x06\x07',
        u32le(0),
        u64le(offset + directoryBytes),
        u32le(1),
      )
    : bytes()
  const [few, sizes] = isWide
    ? [0xffff, [0xffffffff, 0xffffffff]]
    : [Math.min(count, 0xffff), [directoryBytes, offset]]
  return bytes(
    wide,
    'PK\x05\x06',
    u16le(0),
    u16le(0),
    u16le(few),
    u16le(few),
    ...sizes.map(u32le),
    u16le(comment.length),
    comment,
  )
}
