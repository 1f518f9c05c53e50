import { AUTOMATA, HELD_BYTES_MAX, type HeldText } from './automaton.ts'
import { type Signature, SignatureScan, SignatureTable } from './signature-scan.ts'
import { TailWindow } from './windows.ts'

/** Searches a whole file for signatures that would make the file two formats at once, wherever they occur. */
export class IntruderScan {
  readonly #archive = new ArchiveBehind()
  readonly #scan = new SignatureScan<Intruder>(INTRUDERS_ANYWHERE, (intruder) => {
    if (intruder.isMarkup === true) this.#markup ??= intruder.found
    else this.#other ??= intruder.found
  })
  #markup: string | null = null
  #other: string | null = null

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += HELD_BYTES_MAX) {
      const held = AUTOMATA.hold(chunk.subarray(at, at + HELD_BYTES_MAX))
      this.#scan.push(held.bytes)
      this.#archive.push(held)
    }
  }

  /** Call once, before the results are read. */
  finish(): void {
    this.#scan.finish()
  }

  /** The second format found in a picture or a recording. */
  get inMedia(): string | null {
    return this.#other ?? this.#markup ?? (this.#archive.isThere(false) ? 'a ZIP archive' : null)
  }

  /** The second format found in the last 64 KiB of a file without an end mark. */
  get atEnd(): string | null {
    const outside = new OutsideScan()
    outside.push(this.#archive.lastBytes)
    return outside.finish()
  }

  /** The second format of a PDF. Attached archives, and descriptions of pages and scripts, are allowed in it. */
  get inPdf(): string | null {
    return this.#archive.isThere(true) ? 'a ZIP archive' : this.#other
  }
}

/** Bytes from which a piece is scanned separately; smaller pieces are joined, since a scan costs more than their bytes. */
const JOINED_BYTES_MAX = 512
/** Bytes of small pieces that are joined before they are scanned. */
const JOINING_BYTES = 4_096

/** Searches the bytes before the beginning and after the end of a file's format. */
export class OutsideScan {
  #found: string | null = null
  /** Short pieces that wait for their scan. */
  #joined: Uint8Array | null = null
  #length = 0
  readonly #scan = new SignatureScan<Intruder>(INTRUDERS_OUTSIDE, (intruder) => {
    this.#found ??= intruder.found
  })

  /** Adds the bytes in `[from, to)`. */
  push(bytes: Uint8Array, from = 0, to = bytes.length): void {
    if (to - from >= JOINED_BYTES_MAX) {
      this.#scanJoined()
      this.#scan.push(bytes.subarray(from, to))
      return
    }
    if (this.#length + to - from > JOINING_BYTES) this.#scanJoined()
    const joined = (this.#joined ??= new Uint8Array(JOINING_BYTES))
    for (let at = from; at < to; at++) joined[this.#length++] = bytes[at] ?? 0
  }

  /** Call once. */
  finish(): string | null {
    this.#scanJoined()
    this.#scan.finish()
    return this.#found
  }

  #scanJoined(): void {
    if (this.#length > 0) this.#scan.push((this.#joined ?? NO_BYTES).subarray(0, this.#length))
    this.#length = 0
  }
}

const NO_BYTES = new Uint8Array(0)

/** `PK`, 5, 6: the mark of the record at the end of every zip. */
const END_MARK = 'PK\x05\x06'
/** Bytes of that record without its comment, which has at most 65,535 bytes. */
const END_BYTES = 22
/** The mark of a line of the directory. */
const LINE_MARK = 'PK\x01\x02'
/** The mark right before that record when sizes need 64 bits; it refers to these sizes. */
const WIDE_MARK = 'PK\x06\x07'
/** Bytes of the locator with WIDE_MARK. */
const WIDE_BYTES = 20
/** The bytes at the end in which zip readers search for that record. */
const TAIL_BYTES = END_BYTES + 0xffff
/** The first bytes of an archive as words, the lowest byte first: the mark of an entry, or the end mark of an empty archive. */
const START_WORDS = [0x04034b50, 0x06054b50] as const
const MARK_BYTES = 4
/** `stream` with its line end, before the first mark of an attachment. */
const STREAM_START = /stream(?:\r\n|\n|\r)$/
/** Bytes of the longest match of STREAM_START. */
const STREAM_START_BYTES = 8
/** Bytes that are kept of a chunk: the start of a stream and the mark after it may be split between two chunks. */
const BORDER_BYTES = STREAM_START_BYTES + 4
/** `endstream` after white space. */
const STREAM_END = /^[\0\t\n\f\r ]{0,8}endstream/
/** Bytes of the longest match of STREAM_END. */
const STREAM_END_BYTES = 17
/**
 * The number of entries of archives in streams that are examined, from the first: with more, a PDF cannot be
 * distinguished from an archive. Decision.
 */
const MARKS_MAX = 65_536

/**
 * Checks whether zip readers would take another file for an archive. These search for the end record from the end of
 * the file backward; they tolerate bytes before the archive, and some tolerate bytes after it. So no such record may be
 * near the end, except that of a PDF's attachment, which is an archive that fills a whole stream.
 */
class ArchiveBehind {
  readonly #tail = new TailWindow(TAIL_BYTES)
  readonly #starts = new Set<number>()
  #sizeBytes = 0
  #marks = 0
  /** The last bytes of the earlier chunks. */
  #border = ''

  push({ bytes }: HeldText): void {
    this.#tail.push(bytes)
    this.#lookForStarts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
    this.#sizeBytes += bytes.length
  }

  /** The last 64 KiB of the file. */
  get lastBytes(): Uint8Array {
    return Buffer.from(this.#tail.latin1(), 'latin1')
  }

  isThere(mayBeAttached: boolean): boolean {
    const tail = this.#tail.latin1()
    const tailAt = this.#sizeBytes - tail.length
    for (let at = tail.indexOf(END_MARK); at >= 0; at = tail.indexOf(END_MARK, at + 1)) {
      if (at + END_BYTES <= tail.length && this.#endsArchive(tail, { at, tailAt, mayBeAttached })) return true
    }
    return false
  }

  #endsArchive(tail: string, place: { at: number; tailAt: number; mayBeAttached: boolean }): boolean {
    const { at, tailAt, mayBeAttached } = place
    const record = Buffer.from(tail.slice(at, at + END_BYTES), 'latin1')
    const [directoryBytes, directoryAt] = [record.readUInt32LE(12), record.readUInt32LE(16)]
    // No attachment is this large.
    if (tail.startsWith(WIDE_MARK, at - WIDE_BYTES)) return true
    const lineAt = at - directoryBytes
    // Without a directory before it, the mark occurs by chance. A directory that begins before the tail is
    // assumed to exist.
    if (tailAt + lineAt < 0 || (lineAt >= 0 && directoryBytes > 0 && !tail.startsWith(LINE_MARK, lineAt)))
      return false
    const isAttached = mayBeAttached && this.#starts.has(tailAt + lineAt - directoryAt)
    const behind = at + END_BYTES + record.readUInt16LE(20)
    return !isAttached || !STREAM_END.test(tail.slice(behind, behind + STREAM_END_BYTES))
  }

  #lookForStarts(bytes: Buffer): void {
    if (this.#marks >= MARKS_MAX) return
    // First the bytes at the border of two chunks.
    const across = Buffer.from(this.#border + bytes.toString('latin1', 0, BORDER_BYTES), 'latin1')
    for (let at = 0; at + MARK_BYTES <= across.length; at++)
      if (this.#marks < MARKS_MAX && isStartWord(across.readUInt32LE(at)))
        this.#look(across, { at, bytesAt: this.#sizeBytes - this.#border.length })
    const next = (from: number): number => AUTOMATA.wordIn(bytes, from, START_WORDS)
    for (let at = next(0); at >= 0 && this.#marks < MARKS_MAX; at = next(at + MARK_BYTES))
      this.#look(bytes, { at, bytesAt: this.#sizeBytes })
    const last = bytes.length < BORDER_BYTES ? across : bytes
    this.#border = last.toString('latin1', Math.max(0, last.length - BORDER_BYTES))
  }

  /** @param bytesAt place of the bytes in the file */
  #look(bytes: Buffer, { at, bytesAt }: { at: number; bytesAt: number }): void {
    this.#marks++
    const before = bytes[at - 1]
    const isStart =
      (before === 0x0a || before === 0x0d) &&
      STREAM_START.test(bytes.toString('latin1', Math.max(0, at - STREAM_START_BYTES), at))
    if (isStart) this.#starts.add(bytesAt + at)
  }
}

function isStartWord(word: number): boolean {
  return word === START_WORDS[0] || word === START_WORDS[1]
}

/** A signature that makes a file two formats at once: another program would read the file as that format, or run it. */
interface Intruder extends Signature {
  /** A noun phrase for the refusal's text. */
  readonly found: string
  /** Documents may describe pages and scripts. */
  readonly isMarkup?: boolean
}

const OUTSIDE_ARCHIVES: readonly Intruder[] = [
  { bytes: 'PK\x03\x04', found: 'a ZIP archive', holds: isZipEntry },
  { bytes: 'PK\x05\x06\0\0\0\0', found: 'a ZIP archive' },
  { bytes: 'ustar\x0000', found: 'a tar archive' },
  { bytes: 'ustar  \0', found: 'a tar archive' },
  { bytes: '\x1f\x8b\x08', found: 'a gzip archive', holds: isGzipHead },
  { bytes: '\xfd7zXZ\0', found: 'an xz archive' },
  { bytes: 'BZh', found: 'a bzip2 archive', holds: (view, at) => matches(view, at + 4, '1AY&SY') },
  { bytes: '\x28\xb5\x2f\xfd', found: 'a Zstandard archive', holds: isZstandardHead },
  { bytes: '\x04\x22\x4d\x18', found: 'an LZ4 archive', holds: isLz4Head },
  { bytes: 'LZIP\x01', found: 'an lzip archive' },
  { bytes: 'MSCF\0\0\0\0', found: 'a Windows cabinet archive' },
  { bytes: '!<arch>\n', found: 'an ar archive' },
  { bytes: 'xar!\0\x1c', found: 'a xar archive' },
  { bytes: '**ACE**', found: 'an ACE archive' },
  { bytes: '\xed\xab\xee\xdb\x03', found: 'an RPM package' },
  { bytes: '-l', found: 'an LHA archive', holds: isLhaMethod },
  { bytes: '07070', found: 'a cpio archive', holds: isCpioHead },
]

const OUTSIDE_PROGRAMS: readonly Intruder[] = [
  {
    bytes: '\x7fELF',
    found: 'an ELF executable',
    holds: (view, at) => isOneOf(view[at + 4], 1, 2) && isOneOf(view[at + 5], 1, 2),
  },
  { bytes: 'PE\0\0', found: 'a Windows executable', holds: isWindowsMachine },
  { bytes: 'This program cannot be run in DOS mode', found: 'a Windows executable' },
  { bytes: '\xcf\xfa\xed\xfe', found: 'a Mach-O executable', holds: isAppleMachine },
  { bytes: '\xce\xfa\xed\xfe', found: 'a Mach-O executable', holds: isAppleMachine },
  {
    bytes: '\xfe\xed\xfa\xcf',
    found: 'a Mach-O executable',
    holds: (view, at) => isOneOf(view[at + 4], 0, 1),
  },
  { bytes: '\xfe\xed\xfa\xce\0\0\0', found: 'a Mach-O executable' },
  { bytes: '\xca\xfe\xba\xbe\0\0\0', found: 'a Mach-O executable or Java class' },
  { bytes: '\0asm\x01\0\0\0', found: 'a WebAssembly module' },
  { bytes: 'dex\n03', found: 'an Android executable' },
  { bytes: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', found: 'an old Office document or installer (OLE)' },
  { bytes: '%PDF-', found: 'a PDF document', holds: (view, at) => isDigit(view[at + 5]) },
]

const OUTSIDE_MARKUP: readonly Intruder[] = [
  ...[
    '<svg',
    '<head',
    '<object',
    '<embed',
    '<form',
    '<style',
    '<meta',
    '<img',
    '<link',
    '<title',
    '<table',
  ].map(tag),
  {
    bytes: '<!--',
    found: 'an HTML page',
    holds: (view, at) => isOneOf(view[at + 4], 0x0a, 0x0d, 0x20, 0x5b),
  },
  {
    bytes: '<%@',
    found: 'a server-side script',
    holds: (view, at) => isOneOf(view[at + 3], 0x20, 0x70, 0x50),
  },
  { bytes: '#!/bin/', found: 'a script' },
  { bytes: '#!/usr/', found: 'a script' },
]

/** Signatures of formats that programs find, or run, anywhere in a file. */
const ANYWHERE: readonly Intruder[] = [
  { bytes: 'Rar!\x1a\x07', found: 'a RAR archive' },
  { bytes: '7z\xbc\xaf\x27\x1c', found: 'a 7-Zip archive' },
  { bytes: '__HALT_COMPILER();', found: 'a PHP archive' },
  { bytes: '\x01CD001\x01', found: 'a disk image' },
  ...['<script', '<html', '<body', '<iframe'].map(tag),
  { bytes: '<!doctype html', isCaseless: true, found: 'an HTML page', isMarkup: true },
  { bytes: '<?php', isCaseless: true, found: 'a PHP script', isMarkup: true },
]

const INTRUDERS_ANYWHERE = new SignatureTable<Intruder>(4, ANYWHERE)

/**
 * Signatures that count before the beginning and after the end of a file's format, together with ANYWHERE.
 * Inside a file they occur by chance, or in data that no program searches.
 */
const INTRUDERS_OUTSIDE = new SignatureTable<Intruder>(1, [
  ...ANYWHERE,
  ...OUTSIDE_ARCHIVES,
  ...OUTSIDE_PROGRAMS,
  ...OUTSIDE_MARKUP,
])

/** A tag's name is followed by white space, `/` or `>`: four letters alone occur in noise by chance. */
function tag(bytes: string): Intruder {
  return {
    bytes,
    isCaseless: true,
    isMarkup: true,
    found: 'an HTML page',
    holds: (view, at) =>
      isOneOf(view[at + bytes.length], 0x20, 0x09, 0x0a, 0x0c, 0x0d, 0x2f, 0x3e) &&
      (bytes.length > 5 || isOfOneCase(view, at)),
  }
}

/** Whether the three letters after the bracket have the same case, which is rare in noise. */
function isOfOneCase(view: Uint8Array, at: number): boolean {
  const [first = 0, second = 0, third = 0] = view.subarray(at + 1, at + 4)
  return ((first ^ second) & 0x20) === 0 && ((second ^ third) & 0x20) === 0
}

function isOneOf(byte: number | undefined, ...wanted: readonly number[]): boolean {
  return byte !== undefined && wanted.includes(byte)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function matches(view: Uint8Array, at: number, text: string): boolean {
  return String.fromCharCode(...view.subarray(at, at + text.length)) === text
}

const ZIP_METHODS = [0, 1, 6, 8, 9, 12, 14, 20, 93, 94, 95, 96, 97, 98, 99]

/** An entry's header by its version, method and the first character of its name. */
function isZipEntry(view: Uint8Array, at: number): boolean {
  const nameBytes = (view[at + 26] ?? 0) | ((view[at + 27] ?? 0) << 8)
  const isNamed = nameBytes > 0 && nameBytes <= 1_024 && (view[at + 30] ?? 0) >= 0x20
  return (
    isNamed && (view[at + 4] ?? 0xff) <= 63 && view[at + 9] === 0 && isOneOf(view[at + 8], ...ZIP_METHODS)
  )
}

/** Whether no reserved flag is set, and the format defines the level and the operating system. */
function isGzipHead(view: Uint8Array, at: number): boolean {
  const system = view[at + 9] ?? 0xfe
  return (view[at + 3] ?? 0xff) < 0x20 && isOneOf(view[at + 8], 0, 2, 4) && (system <= 13 || system === 0xff)
}

/** Whether the reserved bits of the frame's descriptor are zero and no dictionary is named. */
function isZstandardHead(view: Uint8Array, at: number): boolean {
  return ((view[at + 4] ?? 0xff) & 0x1b) === 0
}

function isLz4Head(view: Uint8Array, at: number): boolean {
  return ((view[at + 4] ?? 0) & 0xc2) === 0x40 && ((view[at + 5] ?? 0xff) & 0x8f) === 0
}

function isLhaMethod(view: Uint8Array, at: number): boolean {
  return /^-l(?:h[0-9dx]|z[s45]|p[012m])-$/.test(String.fromCharCode(...view.subarray(at, at + 5)))
}

function isCpioHead(view: Uint8Array, at: number): boolean {
  return /^(?:07070[12][0-9a-f]{24}|070707[0-7]{24})$/i.test(
    String.fromCharCode(...view.subarray(at, at + 30)),
  )
}

const WINDOWS_MACHINES = [0x014c, 0x8664, 0xaa64, 0x01c0, 0x01c4, 0x0200]

function isWindowsMachine(view: Uint8Array, at: number): boolean {
  return WINDOWS_MACHINES.includes((view[at + 4] ?? 0) | ((view[at + 5] ?? 0) << 8))
}

/** Whether the machine is x86 or ARM, 32 or 64 bits, little-endian. */
function isAppleMachine(view: Uint8Array, at: number): boolean {
  return (
    isOneOf(view[at + 4], 7, 12) && view[at + 5] === 0 && view[at + 6] === 0 && isOneOf(view[at + 7], 0, 1)
  )
}
