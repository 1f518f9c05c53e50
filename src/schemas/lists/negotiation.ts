/** Content negotiation by the headers of a request. */

/** Whether the coding is listed, with a quality other than 0. RFC 9110 §12.5.3. @param acceptEncoding the header's value */
export function takesCoding(acceptEncoding: string | undefined, coding: 'br' | 'gzip'): boolean {
  return (acceptEncoding ?? '').split(',').some((listed) => {
    const [name, quality = ''] = listed.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !/^q\s*=\s*0(?:\.0*)?$/.test(quality)
  })
}

/** Whether the caller already has this representation, by weak comparison. RFC 9110 §13.1.2. @param ifNoneMatch the header's value */
export function hasForm(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}
