import { ArchiveBehind } from './archive-behind.ts'
import { INTRUDERS_ANYWHERE, INTRUDERS_OUTSIDE, type Intruder } from './intruders.ts'
import { SignatureScan } from './signature-scan.ts'

/** Looks through a whole file for what would make it two things at once wherever it stands. Source: contract C36. */
export class IntruderScan {
  readonly #archive = new ArchiveBehind()
  readonly #scan = new SignatureScan<Intruder>(INTRUDERS_ANYWHERE, (intruder) => {
    if (intruder.isMarkup === true) this.#markup ??= intruder.found
    else this.#other ??= intruder.found
  })
  #markup: string | null = null
  #other: string | null = null

  push(chunk: Uint8Array): void {
    this.#scan.push(chunk)
    this.#archive.push(chunk)
  }

  /** Call once, before the questions. */
  finish(): void {
    this.#scan.finish()
  }

  /** What a picture or a recording is, too. */
  get inMedia(): string | null {
    return this.#other ?? this.#markup ?? (this.#archive.isThere(false) ? 'a ZIP archive' : null)
  }

  /** What a file whose end is not marked is, too, by its last 64 KiB. */
  get atEnd(): string | null {
    const outside = new OutsideScan()
    outside.push(this.#archive.lastBytes)
    return outside.finish()
  }

  /** What a PDF is, too: it may have an archive attached and be about pages and scripts. */
  get inPdf(): string | null {
    return this.#archive.isThere(true) ? 'a ZIP archive' : this.#other
  }
}

/** Looks through what stands before the beginning and behind the end of what a file is. */
export class OutsideScan {
  found: string | null = null
  readonly #scan = new SignatureScan<Intruder>(INTRUDERS_OUTSIDE, (intruder) => {
    this.found ??= intruder.found
  })

  push(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#scan.push(bytes)
  }

  /** Call once. */
  finish(): string | null {
    this.#scan.finish()
    return this.found
  }
}
