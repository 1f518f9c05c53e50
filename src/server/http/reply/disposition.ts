const NOT_PLAIN = /[^\x20-\x7e]|["\\%]/g
/** Characters that RFC 8187 requires to be encoded. */
const NOT_ATTRIBUTE = /[^A-Za-z0-9!#$&+.^_`|~-]/gu

/**
 * The value of `Content-Disposition` for a download. Source: RFC 6266, RFC 8187.
 * @param path the name of the file; its folders are dropped
 */
export function attachment(path: string): string {
  // Half of a surrogate pair has no UTF-8 form.
  const name = (path.split('/').at(-1) ?? '').toWellFormed()
  const plain = name.replace(NOT_PLAIN, '_')
  if (plain === name) return `attachment; filename="${name}"`
  return `attachment; filename="${plain}"; filename*=UTF-8''${name.replace(NOT_ATTRIBUTE, percented)}`
}

function percented(character: string): string {
  return [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}
