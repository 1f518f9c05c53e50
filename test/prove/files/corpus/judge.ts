import { CONTENT_SLICE_BYTES_MAX, createContentScanner } from '../../../../src/workers/content/scanner.ts'
import type { ContentVerdict } from '../../../../src/workers/content/verdict.ts'

export function verdictOf(file: Uint8Array): ContentVerdict {
  const scanner = createContentScanner()
  for (let at = 0; at < file.length; at += CONTENT_SLICE_BYTES_MAX)
    scanner.push(file.subarray(at, at + CONTENT_SLICE_BYTES_MAX))
  return scanner.finish(file.length)
}

export function stated(verdict: ContentVerdict): string {
  return verdict.ok ? verdict.mimeType : `refused: ${verdict.found}`
}

export interface Row {
  files: number
  /**
   * Those that the type's own readers open, as far as they were asked; of them those refused, or taken for
   * another type.
   */
  valid: number
  refused: number
  mistyped: number
  /** Some that went wrong, with what was said of them. */
  readonly wrong: string[]
}

/** Sums by kind. */
export class Table {
  readonly rows = new Map<string, Row>()

  row(kind: string): Row {
    const known = this.rows.get(kind) ?? { files: 0, valid: 0, refused: 0, mistyped: 0, wrong: [] }
    this.rows.set(kind, known)
    return known
  }

  get files(): number {
    return [...this.rows.values()].reduce((sum, row) => sum + row.files, 0)
  }

  lines(): readonly string[] {
    const head = `${'kind'.padEnd(34)}${['files', 'valid', 'refused', 'mistyped', '%'].map((name) => name.padStart(10)).join('')}`
    return [
      head,
      ...[...this.rows]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([kind, row]) => {
          const cells = [row.files, row.valid, row.refused, row.mistyped, share(row).toFixed(2)]
          return `${kind.padEnd(34)}${cells.map((cell) => String(cell).padStart(10)).join('')}`
        }),
    ]
  }
}

/** Per cent of the valid files that are not what they are. */
export function share({ valid, refused, mistyped }: Row): number {
  return valid === 0 ? 0 : (100 * (refused + mistyped)) / valid
}
