/** The form that carries an uploaded file. */

export const BOUNDARY = 'sluice-bench-7d1f0c52a94e4b0e'

/** Before and after the file in its form. */
export const FORM_HEAD = Buffer.from(
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="noise.wav"\r\ncontent-type: audio/wav\r\n\r\n`,
)
export const FORM_TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
