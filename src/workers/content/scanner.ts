import { walker } from './byte-feed.ts'
import { nameNarrowEncoding, nameWideEncoding } from './encodings.ts'
import { flac } from './flac.ts'
import { gif } from './gif.ts'
import { jpeg } from './jpeg.ts'
import { mp3 } from './mp3.ts'
import { ogg } from './ogg.ts'
import { PdfScanner } from './pdf.ts'
import { png } from './png.ts'
import { riff } from './riff.ts'
import { nameBySignature, SIGNATURE_BYTES, type SignatureName } from './signatures.ts'
import { TextScanner } from './text.ts'
import type { ContentVerdict, MimeType, RefusedContent, StructureEnd, StructureScanner } from './verdict.ts'
import { HeadWindow } from './windows.ts'
import { zip } from './zip.ts'

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
 * A file is one of the binary types only if all of it keeps that type's structure from its first byte to its
 * last; nothing but zero bytes may follow the end, and white space that of a PDF. Where none does, it is text if all of it is UTF-8 without
 * NUL. So a text that begins as a picture does is a text, and a file that is two things at once is what its
 * beginning says, or is refused. Memory: under 400 KB, whatever the file.
 */
export function createContentScanner(): ContentScanner {
  return new Scanner()
}

class Scanner implements ContentScanner {
  readonly #head = new HeadWindow(SIGNATURE_BYTES)
  readonly #text = new TextScanner()
  readonly #structures: readonly StructureScanner[] = [
    walker(png),
    walker(jpeg),
    walker(gif),
    walker(riff),
    walker(zip),
    walker(flac),
    walker(ogg),
    walker(mp3),
    new PdfScanner(),
  ]
  #running: readonly StructureScanner[] = this.#structures
  #mayBeText = true
  #sizeBytes = 0

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#sizeBytes += chunk.length
    this.#head.push(chunk)
    if (this.#mayBeText) this.#mayBeText = this.#text.push(chunk)
    this.#running = this.#running.filter((structure) => structure.push(chunk))
  }

  finish(sizeBytes: number): ContentVerdict {
    if (sizeBytes !== this.#sizeBytes) throw new Error(`${this.#sizeBytes} bytes scanned of ${sizeBytes}`)
    if (sizeBytes === 0) return { ok: false, isEmpty: true, found: 'an empty file' }
    const ends = this.#structures.map((structure) => structure.finish())
    const claim = ends.find(isSettled)
    if (claim !== undefined) return claim.kind === 'whole' ? accepted(claim.mimeType) : refused(claim.found)
    const text = this.#text.finish()
    if (text !== null) return accepted(text)
    const head = this.#head.latin1()
    const signature = nameBySignature(head)
    const damaged = ends.find((end) => end.kind === 'broken')
    return refused(damaged?.found ?? nameOf(head, signature, this.#text.fault))
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
