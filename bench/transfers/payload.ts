/** The form that carries an uploaded file, and files of each kind for it. */
import { pdfOf } from '../../test/support/corpus/binaries.ts'
import { docxWith } from '../../test/support/corpus/office-writer.ts'
import { wholeFile } from '../../test/support/files/wave-file.ts'

export const FILE_KINDS = ['media', 'a text', 'a PDF', 'a DOCX'] as const
export type FileKind = (typeof FILE_KINDS)[number]

export const BOUNDARY = 'sluice-bench-7d1f0c52a94e4b0e'

/** The form's part before the file. */
export const FORM_HEAD = Buffer.from(
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="noise.wav"\r\ncontent-type: audio/wav\r\n\r\n`,
)
/** The form's part after the file. */
export const FORM_TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

const PROSE = 'Models have prices and limits; a gateway counts what each call costs, and stops at the budget.'
const WORDS = PROSE.split(' ')
const LINES = 800

/** Lines of words, of different lengths and without any sign of a table. */
export function proseFile(sizeBytes: number): Buffer {
  const lines = Array.from({ length: LINES }, (_, nth) =>
    Array.from({ length: 6 + (nth % 9) }, (_, at) => WORDS[(nth * 7 + at * 5) % WORDS.length]).join(' '),
  )
  return Buffer.alloc(sizeBytes, `${lines.join('\n')}\n`)
}

/** Bytes of noise that files repeat. */
const NOISE_BYTES = 1_048_576

/** A file of exactly so many bytes: of noise, as packed media and documents are, or of prose. */
export function fileOf(kind: FileKind, sizeBytes: number): Buffer {
  if (kind === 'a text') return proseFile(sizeBytes)
  if (kind === 'media') return wholeFile(sizeBytes)
  if (kind === 'a PDF') return pdfOf(sizeBytes, wholeFile(NOISE_BYTES))
  const picture = (bytes: number): Buffer =>
    docxWith([
      { name: 'word/media/image1.png', data: Buffer.alloc(bytes, wholeFile(NOISE_BYTES)), isStored: true },
    ])
  return picture(sizeBytes - picture(0).length)
}
