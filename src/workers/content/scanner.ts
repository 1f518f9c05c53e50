import { walker } from './byte-feed.ts'
import { nameNarrowEncoding, nameWideEncoding } from './text/encodings.ts'
import { flac } from './media/flac.ts'
import { gif } from './media/pictures.ts'
import { jpeg } from './media/jpeg.ts'
import { mp3 } from './media/mp3.ts'
import { ogg } from './media/ogg.ts'
import { PdfScanner } from './pdf.ts'
import { png } from './media/png.ts'
import { riff } from './media/riff.ts'
import { TextScanner } from './text/text.ts'
import type { ContentVerdict, MimeType, RefusedContent, StructureEnd, StructureScanner } from './verdict.ts'
import { IntruderScan } from './intruder-scan.ts'
import { HeadWindow } from './windows.ts'
import { zip } from './archive/zip.ts'

/** Determines the type of an upload by its bytes alone. One scanner for each file; see `createContentScanner`. */
export interface ContentScanner {
  /**
   * Scans the next bytes, in order, in pieces of any size; the verdict does not depend on where they are cut. It keeps
   * no view of `chunk`, does not change it, and runs for about 1 ms at CONTENT_SLICE_BYTES_MAX: the caller
   * cuts longer chunks.
   */
  push(chunk: Uint8Array): void
  /** Call once, after the last byte. @param sizeBytes of the file: must equal the pushed bytes, otherwise the call throws */
  finish(sizeBytes: number): ContentVerdict
}

/** Bytes for one `push`, so that it holds a session's thread for well under 5 ms. Design §5. */
export const CONTENT_SLICE_BYTES_MAX = 131_072

/**
 * The scanner of §4.7: final on the whole file, in one pass, without reading any byte twice.
 *
 * A file is of a binary type only if it keeps that type's structure to its end. After that end, and before a
 * PDF's header, any bytes may come except those that make the file an archive, an executable, a script or a
 * page as well. A file that keeps no type is text if all of it is UTF-8 without NUL, unless it begins like a
 * PDF. So a text that begins like a picture is a text. Memory: under 500 KB for any file.
 */
export function createContentScanner(): ContentScanner {
  return new Scanner()
}

class Scanner implements ContentScanner {
  readonly #head = new HeadWindow(SIGNATURE_BYTES)
  readonly #text = new TextScanner()
  readonly #pdf = new PdfScanner()
  readonly #intruders = new IntruderScan()
  readonly #structures = [png, jpeg, gif, riff, zip, flac, ogg, mp3].map(
    (walk) => new Structure(walker(walk)),
  )
  #mayBePdf = true
  #mayBeText = true
  #sizeBytes = 0

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#sizeBytes += chunk.length
    this.#head.push(chunk)
    if (this.#mayBeText) this.#mayBeText = this.#text.push(chunk)
    if (this.#mayBePdf) this.#mayBePdf = this.#pdf.push(chunk)
    for (const structure of this.#structures) structure.push(chunk)
    // A file that cannot be of any type must not cost the work that only polyglots need.
    const isClaimed = this.#mayBePdf || this.#structures.some((structure) => structure.isClaim)
    if (isClaimed) this.#intruders.push(chunk)
  }

  finish(sizeBytes: number): ContentVerdict {
    if (sizeBytes !== this.#sizeBytes)
      throw new Error(`only ${this.#sizeBytes} of ${sizeBytes} bytes were scanned`)
    if (sizeBytes === 0) return { ok: false, isEmpty: true, found: 'an empty file' }
    this.#intruders.finish()
    const ends = this.#structures.map((structure) => structure.finish())
    if (this.#mayBePdf) ends.push(this.#pdf.finish(this.#intruders))
    const claim = ends.find(isSettled)
    if (claim !== undefined) return claim.kind === 'whole' ? this.#accept(claim) : refused(claim.found)
    const text = this.#text.finish()
    if (text !== null) return accepted(text)
    const head = this.#head.latin1()
    const signature = nameBySignature(head)
    const damaged = ends.find((end) => end.kind === 'broken')
    return refused(damaged?.found ?? nameOf(head, signature, this.#text.fault))
  }

  #accept({ mimeType, isOpen }: StructureEnd & { kind: 'whole' }): ContentVerdict {
    const inMedia = /^(?:image|audio)/.test(mimeType) ? this.#intruders.inMedia : null
    const besides = inMedia ?? (isOpen ? this.#intruders.atEnd : null)
    return besides === null
      ? accepted(mimeType)
      : refused(`a file of type ${mimeType} that is also ${besides}`)
  }
}

/** The scanner of one type until it has decided. */
class Structure {
  readonly #scanner: StructureScanner
  #end: StructureEnd | null = null

  constructor(scanner: StructureScanner) {
    this.#scanner = scanner
  }

  /** Whether the file may still be of the type. */
  get isClaim(): boolean {
    return this.#end === null || this.#end.kind === 'whole'
  }

  push(chunk: Uint8Array): void {
    if (this.#end === null && !this.#scanner.push(chunk)) this.finish()
  }

  finish(): StructureEnd {
    this.#end ??= this.#scanner.finish()
    return this.#end
  }
}

/** A signature that consists of letters may be a word in an older encoding; such a text has no NUL bytes. */
function nameOf(head: string, signature: SignatureName | null, fault: 'nul' | 'invalid' | null): string {
  const isSure = signature !== null && (signature.isSure || head.includes('\0'))
  const sure = nameWideEncoding(head) ?? (isSure ? signature.found : null)
  return sure ?? nameNarrowEncoding(head, fault) ?? signature?.found ?? 'unrecognised binary data'
}

function isSettled(end: StructureEnd): end is StructureEnd & { kind: 'whole' | 'foreign' } {
  return end.kind === 'whole' || end.kind === 'foreign'
}

function accepted(mimeType: MimeType): ContentVerdict {
  return { ok: true, mimeType }
}

function refused(found: string): RefusedContent {
  return { ok: false, isEmpty: false, found }
}

/** First bytes of a file that are needed to name it. */
const SIGNATURE_BYTES = 1_024

/**
 * Names the probable format of a refused file by its first bytes. Only for the refusal's text: this function never
 * decides about acceptance.
 * @param head the file's first SIGNATURE_BYTES bytes, one character for each byte
 */
function nameBySignature(head: string): SignatureName | null {
  for (const { at = 0, begins, found } of SIGNATURES) {
    const bytes = begins.find((begin) => head.startsWith(begin, at))
    if (bytes === undefined) continue
    return { found: typeof found === 'string' ? found : found(head), isSure: !/^[ -~\n]+$/.test(bytes) }
  }
  if (isTransportStream(head)) return { found: 'an MPEG transport stream', isSure: false }
  return isOldTar(head) ? { found: 'a tar archive', isSure: true } : null
}

interface SignatureName {
  readonly found: string
  /** False: the signature consists of letters, so a text may begin with it too. */
  readonly isSure: boolean
}

interface Signature {
  readonly at?: number
  readonly begins: readonly string[]
  readonly found: string | ((head: string) => string)
}

const SIGNATURES: readonly Signature[] = [
  { begins: ['\x7fELF'], found: 'an ELF executable' },
  { begins: ['MZ'], found: windowsProgram },
  {
    begins: ['\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'],
    found: 'a Mach-O executable',
  },
  { begins: ['\xca\xfe\xba\xbe'], found: javaOrMachO },
  { begins: ['\0asm'], found: 'a WebAssembly module' },
  { begins: ['dex\n'], found: 'an Android executable' },
  { begins: ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'], found: 'a ZIP archive' },
  { begins: ['\x1f\x8b'], found: 'a gzip archive' },
  { begins: ['7z\xbc\xaf\x27\x1c'], found: 'a 7-Zip archive' },
  { begins: ['Rar!\x1a\x07'], found: 'a RAR archive' },
  { begins: ['\xfd7zXZ\0'], found: 'an xz archive' },
  { begins: ['\x28\xb5\x2f\xfd'], found: 'a Zstandard archive' },
  { begins: ['BZh'], found: 'a bzip2 archive' },
  { begins: ['\x04\x22\x4d\x18'], found: 'an LZ4 archive' },
  { begins: ['LZIP'], found: 'an lzip archive' },
  { begins: ['MSCF\0'], found: 'a Windows cabinet archive' },
  { begins: ['!<arch>\n'], found: 'an ar archive' },
  { begins: ['\x1f\x9d', '\x1f\xa0'], found: 'a compressed archive' },
  { at: 257, begins: ['ustar'], found: 'a tar archive' },
  { at: 4, begins: ['ftyp'], found: isoMedia },
  { at: 4, begins: ['moov', 'mdat', 'wide', 'free', 'skip'], found: 'a QuickTime video' },
  { begins: ['\x1a\x45\xdf\xa3'], found: matroska },
  { begins: ['RIFF', 'RIFX', 'RF64'], found: riffForm },
  { begins: ['FLV\x01'], found: 'a Flash video' },
  { begins: ['\x30\x26\xb2\x75\x8e\x66\xcf\x11'], found: 'a Windows Media file' },
  { begins: ['\0\0\x01\xba', '\0\0\x01\xb3'], found: 'an MPEG video' },
  { begins: ['OggS'], found: 'an Ogg file' },
  { begins: ['FORM'], found: iffForm },
  { begins: ['MThd'], found: 'a MIDI file' },
  { begins: ['#!AMR'], found: 'AMR audio' },
  { begins: ['\xff\xf0', '\xff\xf1', '\xff\xf8', '\xff\xf9'], found: 'AAC audio' },
  { begins: ['ADIF'], found: 'AAC audio' },
  {
    begins: ['\xff\xfa', '\xff\xfb', '\xff\xf2', '\xff\xf3', '\xff\xe2', '\xff\xe3'],
    found: 'MPEG audio without a complete frame',
  },
  { begins: ['\xff\xfc', '\xff\xfd', '\xff\xf4', '\xff\xf5'], found: 'MPEG layer II audio' },
  { begins: ['.snd'], found: 'an AU audio file' },
  { begins: ['wvpk'], found: 'a WavPack audio file' },
  { begins: ['MAC '], found: "a Monkey's Audio file" },
  { begins: ['BM'], found: 'a BMP image' },
  { begins: ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'], found: 'a TIFF image' },
  { begins: ['\0\0\x01\0'], found: 'an icon' },
  { begins: ['\0\0\x02\0'], found: 'a cursor' },
  { begins: ['8BPS'], found: 'a Photoshop document' },
  { begins: ['\0\0\0\x0cJXL ', '\xff\x0a'], found: 'a JPEG XL image' },
  { begins: ['\0\0\0\x0cjP  ', '\xff\x4f\xff\x51'], found: 'a JPEG 2000 image' },
  { begins: ['\x89PNG'], found: 'a damaged PNG image' },
  { begins: ['\x8aMNG', '\x8bJNG'], found: 'an MNG animation' },
  { begins: ['\xff\xd8\xff'], found: 'a damaged JPEG image' },
  { begins: ['GIF8'], found: 'a damaged GIF image' },
  { begins: ['fLaC'], found: 'a damaged FLAC audio file' },
  { begins: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'], found: 'an old or encrypted Office document (OLE)' },
  { begins: ['SQLite format 3\0'], found: 'an SQLite database' },
  { begins: ['PAR1'], found: 'a Parquet file' },
  { begins: ['ARROW1'], found: 'an Arrow file' },
  { begins: ['\x93NUMPY'], found: 'a NumPy array' },
  { begins: ['wOFF', 'wOF2', 'OTTO', '\0\x01\0\0\0'], found: 'a font' },
  { begins: ['%!PS', '\xc5\xd0\xd3\xc6'], found: 'a PostScript document' },
  { begins: ['AT&TFORM'], found: 'a DjVu document' },
  { begins: ['SLS1'], found: 'a file encrypted by Sluice' },
]

function windowsProgram(head: string): string {
  const at = head.charCodeAt(0x3c) | (head.charCodeAt(0x3d) << 8)
  return head.startsWith('PE\0\0', at) ? 'a Windows executable' : 'a DOS or Windows executable'
}

/** Fat Mach-O states the number of its architectures, a Java class its version, which is 45 or more. */
function javaOrMachO(head: string): string {
  return head.charCodeAt(7) < 45 && head.startsWith('\0\0\0', 4) ? 'a Mach-O executable' : 'a Java class'
}

/** Names the format by the brand of an ISO media file. */
function isoMedia(head: string): string {
  const brand = head.slice(8, 12)
  if (/^M4[AB]/.test(brand)) return 'M4A (AAC) audio'
  if (/^avi[fs]/.test(brand)) return 'an AVIF image'
  if (/^(?:hei[cxms]|hev[cxms]|mif1|msf1)/.test(brand)) return 'a HEIC image'
  if (brand === 'qt  ') return 'a QuickTime video'
  if (brand.startsWith('3g')) return 'a 3GP video'
  return brand === 'crx ' ? 'a camera raw image' : 'an MP4 video'
}

function matroska(head: string): string {
  return head.includes('webm') ? 'a WebM video' : 'a Matroska video'
}

function riffForm(head: string): string {
  const form = head.slice(8, 12)
  if (form === 'AVI ') return 'an AVI video'
  if (form === 'ACON') return 'an animated cursor'
  if (form === 'RMID') return 'a MIDI file'
  return /^[ -~]{4}$/.test(form) ? `a ${head.slice(0, 4)} file of type ${form.trim()}` : 'a damaged RIFF file'
}

function iffForm(head: string): string {
  return /^AIF[FC]$/.test(head.slice(8, 12)) ? 'an AIFF audio file' : 'an IFF file'
}

/** Whether the packets have 188 bytes, each with the same first byte. */
function isTransportStream(head: string): boolean {
  return [0, 188, 376].every((at) => head[at] === 'G')
}

/**
 * Recognizes archives older than `ustar`: the header's checksum, in octal, is the sum of its bytes with
 * spaces in place of the checksum.
 */
function isOldTar(head: string): boolean {
  const written = /^ *([0-7]{1,7})[\0 ]/.exec(head.slice(148, 156))?.[1]
  if (written === undefined || head.length < 512) return false
  let sum = 8 * 0x20
  for (let at = 0; at < 512; at++) if (at < 148 || at >= 156) sum += head.charCodeAt(at)
  return sum === Number.parseInt(written, 8)
}
