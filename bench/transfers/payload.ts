/** Boundary of the form that carries an uploaded file. */

export const BOUNDARY = 'sluice-bench-7d1f0c52a94e4b0e'

/** The form's part before the file. */
export const FORM_HEAD = Buffer.from(
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="noise.wav"\r\ncontent-type: audio/wav\r\n\r\n`,
)
/** The form's part after the file. */
export const FORM_TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
