import { CLIP_FRAMES_PER_SECOND } from '../../../src/schemas/videos/clip-limits.ts'
import type { ShortJobTypes } from '../../../src/server/ports/short-jobs.ts'
import { renderClip } from '../../../src/workers/clip/render.ts'

export type ClipInput = ShortJobTypes['render_clip']['in']

/** The smallest clip by default. */
export function clipInput(input: Partial<ClipInput> = {}): ClipInput {
  return {
    prompt: 'a red fox runs over the snow',
    seconds: 1,
    width: 360,
    height: 360,
    framesPerSecond: CLIP_FRAMES_PER_SECOND,
    seed: 1,
    firstFrame: null,
    lastFrame: null,
    references: [],
    ...input,
  }
}

/** Throws when the clip is refused. */
export async function rendered(input: Partial<ClipInput> = {}): Promise<Buffer> {
  const clip = await renderClip(clipInput(input))
  if (!clip.ok) throw new Error(clip.detail)
  return Buffer.from(clip.mp4)
}

/** The message for a refused clip, null when it is accepted. */
export async function refusal(input: Partial<ClipInput>): Promise<string | null> {
  const clip = await renderClip(clipInput(input))
  return clip.ok ? null : clip.detail
}
