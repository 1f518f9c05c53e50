import { walker } from './byte-feed.ts'
import { nameNarrowEncoding, nameWideEncoding } from './text/encodings.ts'
import { flac } from './media/flac.ts'
import { gif } from './media/gif.ts'
import { jpeg } from './media/jpeg.ts'
import { mp3 } from './media/mp3.ts'
import { ogg } from './media/ogg.ts'
import { PdfScanner } from './pdf.ts'
import { png } from './media/png.ts'
import { riff } from './media/riff.ts'
import { nameBySignature, SIGNATURE_BYTES, type SignatureName } from './signatures.ts'
import { TextScanner } from './text/text.ts'
import type { ContentVerdict, MimeType, RefusedContent, StructureEnd, StructureScanner } from './verdict.ts'
import { IntruderScan } from './intruder-scan.ts'
import { HeadWindow } from './windows.ts'
import { zip } from './archive/zip.ts'

/**
 * Determines the type of an upload by its bytes alone. One scanner for each file; see `createContentScanner`.
 */
export interface ContentScanner {
  /**
   * Takes the next bytes, in order, in pieces of any size; the verdict does not depend on the cuts. It keeps
   * no view of `chunk`, does not change it, and runs for about 1 ms at CONTENT_SLICE_BYTES_MAX: the caller
   * cuts longer chunks.
   */
  push(chunk: Uint8Array): void
  /**
   * Call once, after the last byte.
   * @param sizeBytes of the file: must equal the pushed bytes, otherwise the call throws
   */
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
 * PDF. So a text that begins like a picture is a text. Memory: under 500 KB for any file. Source: contract
 * C36.
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
    // Files without a possible type must not cost the work that only polyglots need.
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

/** The scanner of one type until it has its answer. */
class Structure {
  readonly #scanner: StructureScanner
  #end: StructureEnd | null = null

  constructor(scanner: StructureScanner) {
    this.#scanner = scanner
  }

  /** Whether the file may be of the type so far. */
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

/** A signature of letters alone may be a word in an older encoding, which has no NUL bytes. */
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
