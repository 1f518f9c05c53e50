/** Characters of a provider's id of a job. Decision. */
export const VIDEO_UPSTREAM_ID_CHARS_MAX = 512

/** Visible ASCII: the provider's id of a job is used in a path, a row and a log line. */
const ID = /^[\x21-\x7e]+$/

export function isUpstreamId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= VIDEO_UPSTREAM_ID_CHARS_MAX &&
    ID.test(value) &&
    !value.split('/').some(isStep)
  )
}

/** True for a path segment that would lead to another path. */
function isStep(part: string): boolean {
  return part === '' || part === '.' || part === '..'
}
