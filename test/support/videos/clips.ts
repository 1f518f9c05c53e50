import type { ShortJobTypes } from '../../../src/server/ports/short-jobs.ts'
import { renderClip } from '../../../src/workers/render-clip.ts'

export type ClipInput = ShortJobTypes['render_clip']['in']

/** The smallest clip by default. */
export function clipInput(input: Partial<ClipInput> = {}): ClipInput {
  return {
    prompt: 'a red fox runs over the snow',
    seconds: 1,
    width: 360,
    height: 360,
    seed: 1,
    ...input,
  }
}

export async function rendered(input: Partial<ClipInput> = {}): Promise<Buffer> {
  return Buffer.from(await renderClip(clipInput(input)))
}
