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

/** Decides what an upload is by its bytes alone. One a file; see `createContentScanner`. */
export interface ContentScanner {
  /**
   * Takes the next bytes, in order, in pieces of any size; the verdict does not depend on how they are cut.
   * It keeps no view of `chunk`, does not change it, and runs for about 1 ms at CONTENT_SLICE_BYTES_MAX: cut
   * longer ones.
   */
  push(chunk: Uint8Array): void
  /** Call once, after the last byte. @param sizeBytes of the file: what was pushed in all, else it throws */
  finish(sizeBytes: number): ContentVerdict
}

/** Bytes that one `push` may get so that a session's thread is held for well under 5 ms. Design §5. */
export const CONTENT_SLICE_BYTES_MAX = 131_072

/**
 * The scanner of §4.7: final on the whole file, in one pass, without reading anything twice.
 *
 * A file is one of the binary types only if it keeps that type's structure to its end. Behind that end, and
 * before a PDF's header, anything may stand but what makes the file an archive, an executable, a script or a
 * page, too. Where no type is kept, it is text if all of it is UTF-8 without NUL, unless it begins as a PDF
 * does. So a text that begins as a picture does is a text. Memory: under 500 KB, whatever the file. Source:
 * contract C36.
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
    // What no type claims must not cost what only its polyglots need.
    const isClaimed = this.#mayBePdf || this.#structures.some((structure) => structure.isClaim)
    if (isClaimed) this.#intruders.push(chunk)
  }

  finish(sizeBytes: number): ContentVerdict {
    if (sizeBytes !== this.#sizeBytes) throw new Error(`${this.#sizeBytes} bytes scanned of ${sizeBytes}`)
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
      : refused(`a file of type ${mimeType} that is ${besides}, too`)
  }
}

/** One type's scanner until it has its answer. */
class Structure {
  readonly #scanner: StructureScanner
  #end: StructureEnd | null = null

  constructor(scanner: StructureScanner) {
    this.#scanner = scanner
  }

  /** Whether the file may be of the type, as far as it has come. */
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

/** A signature of letters alone may as well be a word in an older encoding, which has no NUL bytes. */
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
