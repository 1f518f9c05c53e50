import { randomBytes } from 'node:crypto'

const BOUNDARY_BYTES = 24

/** A file within a form. */
export interface FormFile {
  readonly filename: string
  readonly type: string
  readonly bytes: Uint8Array
}

export interface Form {
  readonly contentType: string
  readonly pieces: readonly Uint8Array[]
}

/** A multipart form whose bytes are not joined. @param random bytes that the writer of a field cannot know */
export function formOf(
  fields: readonly (readonly [name: string, value: string | FormFile])[],
  random = randomBytes,
): Form {
  const boundary = `sluice-${random(BOUNDARY_BYTES).toString('hex')}`
  const pieces = fields.flatMap(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${plain(name)}"`
    if (typeof value === 'string') return [Buffer.from(`${head}\r\n\r\n${value}\r\n`)]
    const file = `; filename="${plain(value.filename)}"\r\nContent-Type: ${value.type}\r\n\r\n`
    return [Buffer.from(head + file), value.bytes, Buffer.from('\r\n')]
  })
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    pieces: [...pieces, Buffer.from(`--${boundary}--\r\n`)],
  }
}

function plain(name: string): string {
  return name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
}
