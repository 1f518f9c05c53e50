import { VIDEO_UPSTREAM_ID_CHARS_MAX } from '../../../schemas/videos/video-provider-limits.ts'

/** Visible ASCII. What a provider calls a job becomes part of a path, a row and a log. */
const ID = /^[\x21-\x7e]+$/

export function isUpstreamId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= VIDEO_UPSTREAM_ID_CHARS_MAX &&
    ID.test(value) &&
    !value.split('/').some(isStep)
  )
}

/** A part of a path that leads elsewhere. */
function isStep(part: string): boolean {
  return part === '' || part === '.' || part === '..'
}
