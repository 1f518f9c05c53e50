import type { VideoBody } from '../../../schemas/videos/videos.ts'
import type { VideoFacts } from '../../ports/models/models.ts'
import type { VideoRequest } from '../../ports/videos/videos.ts'
import { oneOf, type Findings } from './findings.ts'

type Images = Pick<VideoRequest, 'frames' | 'references'>
type Reference = VideoRequest['references'][number]

/**
 * Inputs of the video beside the prompt. Frames win over references; audio and video are kept where the model
 * accepts them. B1.1, C27.
 */
export function referencesOf(body: VideoBody, facts: VideoFacts, findings: Findings): Images {
  const frames = framesOf(body, facts, findings)
  return frames.length > 0
    ? { frames, references: [] }
    : { frames, references: keptOf(body, facts, findings) }
}

function framesOf(
  { frame_images: given = [] }: VideoBody,
  { frameImages }: VideoFacts,
  findings: Findings,
): Images['frames'] {
  if (given.length > 0 && (frameImages === null || frameImages.length === 0)) {
    findings.unsupported('/frame_images', 'is not supported by the model', 'none')
    return []
  }
  return given.map(({ frame_type: frame, image_url: { url } }, index) => {
    const path = `/frame_images/${index}`
    findings.among(`${path}/frame_type`, frame, frameImages)
    if (given.findIndex((other) => other.frame_type === frame) < index) {
      findings.invalid(`${path}/frame_type`, 'is given twice', 'one image of each type')
    }
    checkUrl(url, `${path}/image_url/url`, findings)
    return { frame, url }
  })
}

function keptOf(
  { input_references: given = [] }: VideoBody,
  facts: VideoFacts,
  findings: Findings,
): readonly Reference[] {
  const takes = { image: true, audio: facts.takesAudioReferences, video: facts.takesVideoReferences }
  return given.flatMap((one, index): readonly Reference[] => {
    const [kind, url] =
      one.type === 'image_url'
        ? (['image', one.image_url.url] as const)
        : one.type === 'audio_url'
          ? (['audio', one.audio_url.url] as const)
          : (['video', one.video_url.url] as const)
    if (!takes[kind]) return []
    checkUrl(url, `/input_references/${index}/${one.type}/url`, findings)
    return [{ kind, url }]
  })
}

/**
 * The schema checks the form of the URL; a name and a password in it would reach the process that fetches it.
 */
function checkUrl(url: string, path: string, findings: Findings): void {
  if (url.startsWith('data:')) return
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || parsed.username !== '' || parsed.password !== '')
    findings.invalid(path, 'is not a URL', EXPECTED)
}

const EXPECTED = `${oneOf(['https:', 'data:'])} URL, without credentials`.replaceAll('"', '')
