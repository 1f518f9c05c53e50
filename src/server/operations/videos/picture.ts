import { isOfAspectRatio, isOfResolution, pixelsFor, pixelsOf } from '../../../schemas/videos/video-sizes.ts'
import {
  resolutionOfSize,
  VIDEO_ASPECT_RATIOS,
  VIDEO_RESOLUTIONS,
} from '../../../schemas/videos/video-models.ts'
import type { VideoBody } from '../../../schemas/videos/videos.ts'
import type { VideoFacts } from '../../ports/models/models.ts'
import type { VideoRequest } from '../../ports/videos/videos.ts'
import { oneOf, type Findings } from './findings.ts'

type Picture = Pick<VideoRequest, 'resolution' | 'aspectRatio' | 'size'>

/**
 * Size and shape of the picture. `size` and the other two members are interchangeable (§2.3): missing members
 * follow from the given ones, then from the model's defaults. Contradictions are invalid. C27.
 */
export function pictureOf(body: VideoBody, facts: VideoFacts, findings: Findings): Picture {
  findings.among('/resolution', body.resolution, facts.resolutions)
  findings.among('/aspect_ratio', body.aspect_ratio, facts.aspectRatios)
  return body.size === undefined
    ? byNames(body, facts, findings)
    : bySize(body.size, body, { facts, findings })
}

function byNames(
  body: VideoBody,
  { sizes, resolutions, aspectRatios, defaults }: VideoFacts,
  findings: Findings,
): Picture {
  const resolution = body.resolution ?? defaults.resolution
  const aspectRatio = body.aspect_ratio ?? defaults.aspectRatio
  if (resolution === null || aspectRatio === null) return { resolution, aspectRatio, size: null }
  if (sizes === null) return { resolution, aspectRatio, size: pixelsFor(resolution, aspectRatio) }
  const size = sizes
    .map(pixelsOf)
    .find((one) => isOfResolution(one, resolution) && isOfAspectRatio(one, aspectRatio))
  const given =
    body.aspect_ratio !== undefined ? '/aspect_ratio' : body.resolution !== undefined ? '/resolution' : null
  // The checks above already report a member that the model lacks.
  const isTaken = resolutions?.includes(resolution) !== false && aspectRatios?.includes(aspectRatio) !== false
  if (size === undefined && given !== null && isTaken)
    findings.unsupported(given, 'does not match a size of the model', `the value of ${oneOf(sizes)}`)
  return { resolution, aspectRatio, size: size ?? null }
}

interface PictureContext {
  readonly facts: VideoFacts
  readonly findings: Findings
}

function bySize(text: string, body: VideoBody, { facts, findings }: PictureContext): Picture {
  const size = pixelsOf(text)
  findings.among('/size', text, facts.sizes)
  if (body.resolution !== undefined && !isOfResolution(size, body.resolution)) {
    findings.invalid(
      '/size',
      'contradicts resolution',
      'a size with that resolution, or only one of the two fields',
    )
  }
  if (body.aspect_ratio !== undefined && !isOfAspectRatio(size, body.aspect_ratio)) {
    findings.invalid(
      '/size',
      'contradicts aspect_ratio',
      'a size with that aspect ratio, or only one of the two fields',
    )
  }
  const resolutions = facts.resolutions ?? VIDEO_RESOLUTIONS
  const usual = resolutions.find((name) => name === resolutionOfSize(text))
  const resolution =
    body.resolution ?? usual ?? resolutions.find((name) => isOfResolution(size, name)) ?? null
  const aspectRatio =
    body.aspect_ratio ??
    (facts.aspectRatios ?? VIDEO_ASPECT_RATIOS).find((name) => isOfAspectRatio(size, name)) ??
    null
  // Where the model lists its sizes, the check of the list has decided.
  if (facts.sizes === null) {
    if (resolution === null && facts.resolutions !== null) {
      findings.unsupported(
        '/size',
        'does not match a resolution of the model',
        `a size of ${oneOf(facts.resolutions)}`,
      )
    }
    if (aspectRatio === null && facts.aspectRatios !== null) {
      findings.unsupported(
        '/size',
        'does not match an aspect ratio of the model',
        `a size of ${oneOf(facts.aspectRatios)}`,
      )
    }
  }
  return { resolution, aspectRatio, size }
}
