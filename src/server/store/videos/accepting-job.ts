import type { VideoAttached, VideoInput } from '../../ports/videos/videos.ts'
import { newId, newVideoId } from '../base/ids.ts'

/** A job that is to be accepted. Its ids stay the same for every try, so that the job is never made twice. */
export interface Accepting {
  readonly input: VideoInput
  readonly id: string
  readonly holdId: string
  /** JSON of the request, without its attached parts. */
  readonly request: string
  /** JSON of the attached parts; the empty string when there are none. */
  readonly attached: string
}

export function acceptingOf(input: VideoInput): Accepting {
  const { frames, references, passthrough, ...request } = input.request
  const hasAttached = frames.length + references.length + Object.keys(passthrough).length > 0
  const attached = hasAttached
    ? JSON.stringify({ frames, references, passthrough } satisfies VideoAttached)
    : ''
  return { input, id: newVideoId(), holdId: newId(), request: JSON.stringify(request), attached }
}

/** Characters of the request. */
export function lengthOf({ request, attached }: Accepting): number {
  return request.length + attached.length
}
