/** The form that carries an uploaded file, and a text for it. */

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
