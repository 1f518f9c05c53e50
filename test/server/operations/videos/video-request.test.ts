import t from 'tap'
import { Compile } from 'typebox/compile'
import { issuesOf } from '../../../../src/schemas/issues.ts'
import { CALLBACK_URL_CHARS_MAX } from '../../../../src/schemas/workspaces/workspace-limits.ts'
import { ISSUES_MAX } from '../../../../src/schemas/limits/limits.ts'
import {
  VIDEO_FRAMES_MAX,
  VIDEO_PROMPT_CHARS_MAX,
  VIDEO_URL_CHARS_MAX,
} from '../../../../src/schemas/videos/video-limits.ts'
import { VIDEO_SECONDS_MAX } from '../../../../src/schemas/videos/video-model-limits.ts'
import {
  VIDEO_DATA_URL_CHARS_MAX,
  VIDEO_REFERENCES_MAX,
  VIDEO_USER_CHARS_MAX,
  VideoBody,
} from '../../../../src/schemas/videos/videos.ts'
import {
  VIDEO_PASSTHROUGH_BYTES_MAX,
  videoRequestOf,
} from '../../../../src/server/operations/videos/video-request.ts'
import type { VideoFacts } from '../../../../src/server/ports/models/models.ts'
import type { VideoRequest } from '../../../../src/server/ports/videos/videos.ts'
import { must } from '../../../support/must.ts'

const OPEN: VideoFacts = {
  durations: null,
  resolutions: null,
  aspectRatios: null,
  sizes: null,
  frameImages: ['first_frame', 'last_frame'],
  generatesAudio: null,
  takesSeed: null,
  creativity: null,
  upscaleFactor: null,
  passthroughParameters: [],
  isPromptOptional: false,
  takesAudioReferences: false,
  takesVideoReferences: false,
  takesPreviousJob: false,
  defaults: { seconds: 5, resolution: null, aspectRatio: null },
}
const SETS: Partial<VideoFacts> = {
  durations: [4, 8],
  resolutions: ['720p', '1080p'],
  aspectRatios: ['16:9', '9:16'],
  sizes: ['1280x720', '720x1280', '1920x1080'],
  defaults: { seconds: 4, resolution: '720p', aspectRatio: '16:9' },
}
const IMAGE = { url: 'https://example.com/a.png' }
const FRAME = { type: 'image_url', image_url: IMAGE, frame_type: 'first_frame' }
const check = Compile(VideoBody)

function bodyOf(members: object): VideoBody {
  const body: unknown = { model: 'm', prompt: 'p', ...members }
  if (!check.Check(body)) throw new Error(JSON.stringify(issuesOf(VideoBody, body)))
  return body
}

function asked(
  members: object,
  facts: Partial<VideoFacts> = {},
  provider = 'acme',
): ReturnType<typeof videoRequestOf> {
  return videoRequestOf({
    body: bodyOf(members),
    facts: { ...OPEN, ...facts },
    provider,
    previousUpstreamId: null,
    remixedSeconds: null,
  })
}

const request = (members: object, facts?: Partial<VideoFacts>): VideoRequest => must(asked(members, facts))

/** The failure with the paths of its issues. */
function refusal(members: object, facts?: Partial<VideoFacts>): readonly string[] {
  const outcome = asked(members, facts)
  return outcome.ok
    ? []
    : [outcome.failure.name, ...(outcome.failure.metadata?.issues ?? []).map(({ path }) => path)]
}

/** Paths that the schema complains of. */
const refusedBody = (members: object): readonly string[] =>
  issuesOf(VideoBody, { model: 'm', ...members }).map(({ path }) => path)

t.test('a request with only a prompt gets the defaults of the model', async (t) => {
  t.same(request({}, SETS), {
    prompt: 'p',
    seconds: 4,
    resolution: '720p',
    aspectRatio: '16:9',
    size: { width: 1280, height: 720 },
    seed: null,
    hasAudio: false,
    frames: [],
    references: [],
    creativity: null,
    upscaleFactor: null,
    passthrough: {},
    previousUpstreamId: null,
    user: null,
  })
  t.match(request({}), { seconds: 5, resolution: null, aspectRatio: null, size: null })
})

t.test('names at once every value that the model does not support', async (t) => {
  t.same(refusal({ duration: 5, resolution: '480p', aspect_ratio: '1:1' }, SETS), [
    'video_unsupported',
    '/duration',
    '/resolution',
    '/aspect_ratio',
  ])
  t.same(refusal({ size: '640x360' }, SETS), ['video_unsupported', '/size'])
  t.same(refusal({ aspect_ratio: '9:16', resolution: '1080p' }, SETS), ['video_unsupported', '/aspect_ratio'])
  t.same(refusal({ duration: 99, resolution: '4K', aspect_ratio: '21:9', size: '7x9' }), [
    'body_invalid',
    '/size',
    '/size',
  ])
})

t.test('size is derived from resolution and aspect ratio, and they from the size', async (t) => {
  const tall = { resolution: '720p', aspectRatio: '9:16', size: { width: 720, height: 1280 } }
  t.match(request({ size: '720x1280' }, SETS), tall)
  t.match(request({ aspect_ratio: '9:16' }, SETS), tall)
  t.match(request({ size: '720x1280', resolution: '720p', aspect_ratio: '9:16' }, SETS), tall)
  t.match(request({ size: '854x480' }), {
    resolution: '480p',
    aspectRatio: '16:9',
    size: { width: 854, height: 480 },
  })
  t.match(request({ size: '500x300' }), {
    resolution: null,
    aspectRatio: null,
    size: { width: 500, height: 300 },
  })
})

t.test('a size that contradicts resolution or aspect ratio is invalid', async (t) => {
  t.same(refusal({ size: '1280x720', resolution: '1080p' }, SETS), ['body_invalid', '/size'])
  t.same(refusal({ size: '1280x720', aspect_ratio: '9:16' }, SETS), ['body_invalid', '/size'])
})

t.test('when a model lists no sizes, a size must match its resolutions and aspect ratios', async (t) => {
  const { sizes: _, ...facts } = SETS
  t.match(request({ size: '1920x1080' }, facts), { resolution: '1080p', aspectRatio: '16:9' })
  t.same(refusal({ size: '640x360' }, facts), ['video_unsupported', '/size'])
  t.same(refusal({ size: '720x720' }, facts), ['video_unsupported', '/size'])
})

t.test('a prompt is required, unless the model generates from an image alone and has one', async (t) => {
  for (const prompt of [undefined, '', ' \n']) {
    t.same(refusal({ prompt }), ['body_invalid', '/prompt'])
    t.same(refusal({ prompt, frame_images: [FRAME] }), ['body_invalid', '/prompt'])
    t.same(refusal({ prompt }, { isPromptOptional: true }), ['body_invalid', '/prompt'])
    t.equal(request({ prompt, frame_images: [FRAME] }, { isPromptOptional: true }).prompt, null)
    t.equal(
      request(
        { prompt, input_references: [{ type: 'image_url', image_url: IMAGE }] },
        { isPromptOptional: true },
      ).prompt,
      null,
    )
  }
})

t.test('frames take precedence over references', async (t) => {
  const both = request({ frame_images: [FRAME], input_references: [{ type: 'image_url', image_url: IMAGE }] })
  t.same([both.frames, both.references], [[{ frame: 'first_frame', url: IMAGE.url }], []])
})

t.test('frames that the model does not take, and two of one kind, are refused', async (t) => {
  t.same(refusal({ frame_images: [FRAME] }, { frameImages: null }), ['video_unsupported', '/frame_images'])
  const last = { ...FRAME, frame_type: 'last_frame' }
  t.same(refusal({ frame_images: [last] }, { frameImages: ['first_frame'] }), [
    'video_unsupported',
    '/frame_images/0/frame_type',
  ])
  t.same(refusal({ frame_images: [FRAME, FRAME] }), ['body_invalid', '/frame_images/1/frame_type'])
})

t.test('sends audio and video references to models that support them, and drops the others', async (t) => {
  const references = [
    { type: 'audio_url', audio_url: { url: 'https://example.com/a.mp3' } },
    { type: 'image_url', image_url: IMAGE },
    { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
  ]
  t.same(
    request({ input_references: references }).references.map(({ kind }) => kind),
    ['image'],
  )
  t.same(
    request(
      { input_references: references },
      { takesAudioReferences: true, takesVideoReferences: true },
    ).references.map(({ kind }) => kind),
    ['audio', 'image', 'video'],
  )
})

t.test('image addresses must be https without credentials, or data URLs of a picture', async (t) => {
  const path = '/frame_images/0/image_url/url'
  const refused = [
    'http://a/b',
    'ftp://a/b',
    '/etc/passwd',
    'file:///etc/passwd',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml;base64,AAAA',
    'data:image/png,AAAA',
    'data:image/png;base64,',
    'data:image/png;base64,A A',
    'https://',
    'https://a b',
    'https://ä.example/',
    `https://${'a'.repeat(VIDEO_URL_CHARS_MAX + 1)}`,
    '',
    7,
    null,
  ]
  for (const url of refused)
    t.same(
      refusedBody({ frame_images: [{ ...FRAME, image_url: { url } }] }),
      [path],
      String(url).slice(0, 40),
    )
  for (const url of ['https://u:p@a/b', 'https://:1/', 'https://a:99999/']) {
    t.same(refusal({ frame_images: [{ ...FRAME, image_url: { url } }] }), ['body_invalid', path], url)
    t.same(
      refusal({ input_references: [{ type: 'image_url', image_url: { url } }] }),
      ['body_invalid', '/input_references/0/image_url/url'],
      url,
    )
  }
  t.same(
    request({ frame_images: [{ ...FRAME, image_url: { url: 'data:image/png;base64,iVBORw==' } }] }).frames[0]
      ?.url,
    'data:image/png;base64,iVBORw==',
  )
})

t.test("sound is as requested, else by the model's default, else off", async (t) => {
  t.equal(request({}).hasAudio, false)
  t.equal(request({}, { generatesAudio: true }).hasAudio, true)
  t.equal(request({ generate_audio: false }, { generatesAudio: true }).hasAudio, false)
  t.equal(request({ generate_audio: true }).hasAudio, true)
  t.same(refusal({ generate_audio: true }, { generatesAudio: false }), [
    'video_unsupported',
    '/generate_audio',
  ])
})

t.test('a seed is sent only to models that support it', async (t) => {
  t.equal(request({ seed: 0 }).seed, 0)
  t.equal(request({ seed: 7 }, { takesSeed: true }).seed, 7)
  t.equal(request({ seed: 7 }, { takesSeed: false }).seed, null)
})

t.test('only models that enlarge accept creativity and upscale_factor, within their range', async (t) => {
  const facts = { creativity: [0, 1], upscaleFactor: { min: 1.5, max: 4 } }
  t.match(request({ creativity: 1, upscale_factor: 1.5 }, facts), { creativity: 1, upscaleFactor: 1.5 })
  t.same(refusal({ creativity: 2, upscale_factor: 4.1 }, facts), [
    'video_unsupported',
    '/creativity',
    '/upscale_factor',
  ])
  t.same(refusal({ creativity: 1, upscale_factor: 2 }), [
    'video_unsupported',
    '/creativity',
    '/upscale_factor',
  ])
  t.same(request({ upscale_factor: 100 }, { upscaleFactor: {} }).upscaleFactor, 100)
})

t.test('forwards only provider.options that the model lists, and only for its own provider', async (t) => {
  const facts = { passthroughParameters: ['style', 'toString'] }
  const options = { acme: { style: { a: 1 }, secret: 'x' }, other: { style: 'b' } }
  t.same(request({ provider: { options } }, facts).passthrough, { style: { a: 1 } })
  t.same(request({ provider: { options: { other: { style: 'b' } } } }, facts).passthrough, {})
  t.same(must(asked({ provider: { options } }, facts, 'constructor')).passthrough, {})
  t.same(request({ provider: {} }, facts).passthrough, {})
  const large = { acme: { style: 'x'.repeat(VIDEO_PASSTHROUGH_BYTES_MAX) } }
  t.same(refusal({ provider: { options: large } }, facts), ['body_invalid', '/provider/options/acme'])
  t.same(refusal({ provider: { options: large } }), [])
})

t.test('every member of the body has a type and a limit', async (t) => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ model: '' }, '/model'],
    [{ prompt: 'p'.repeat(VIDEO_PROMPT_CHARS_MAX + 1) }, '/prompt'],
    [{ prompt: 1 }, '/prompt'],
    [{ aspect_ratio: '2:1' }, '/aspect_ratio'],
    [{ resolution: '144p' }, '/resolution'],
    [{ size: '1280' }, '/size'],
    [{ size: '0x0' }, '/size'],
    [{ duration: 0 }, '/duration'],
    [{ duration: 1.5 }, '/duration'],
    [{ duration: VIDEO_SECONDS_MAX + 1 }, '/duration'],
    [{ duration: '5' }, '/duration'],
    [{ seed: 1.5 }, '/seed'],
    [{ seed: 1e300 }, '/seed'],
    [{ generate_audio: 'yes' }, '/generate_audio'],
    [{ generate_audio: null }, '/generate_audio'],
    [{ callback_url: 'x'.repeat(CALLBACK_URL_CHARS_MAX + 1) }, '/callback_url'],
    [{ callback_url: null }, '/callback_url'],
    [{ frame_images: Array(VIDEO_FRAMES_MAX + 1).fill(FRAME) }, '/frame_images'],
    [{ frame_images: {} }, '/frame_images'],
    [
      { input_references: Array(VIDEO_REFERENCES_MAX + 1).fill({ type: 'image_url', image_url: IMAGE }) },
      '/input_references',
    ],
    [{ input_references: [{ type: 'text' }] }, '/input_references/0/type'],
    [{ input_references: [{ type: 'video_url' }] }, '/input_references/0/video_url'],
    [{ provider: null }, '/provider'],
    [{ provider: { options: { acme: 'x' } } }, '/provider/options/acme'],
    [{ creativity: 0.5 }, '/creativity'],
    [{ upscale_factor: 0 }, '/upscale_factor'],
    [{ previous_job_id: '' }, '/previous_job_id'],
    [{ session_id: 's'.repeat(257) }, '/session_id'],
    [{ trace: 'x' }, '/trace'],
    [{ user: 'u'.repeat(VIDEO_USER_CHARS_MAX + 1) }, '/user'],
  ]
  for (const [members, path] of wrong) {
    t.same(
      [check.Check({ model: 'm', ...members }), refusedBody(members)],
      [false, [path]],
      JSON.stringify(members).slice(0, 60),
    )
  }
})

t.test('a data URL may fill the body, and the number of issues has a maximum', async (t) => {
  const url = (chars: number): string =>
    `data:image/png;base64,${'A'.repeat(chars - 'data:image/png;base64,'.length)}`
  t.ok(
    check.Check({
      model: 'm',
      frame_images: [{ ...FRAME, image_url: { url: url(VIDEO_DATA_URL_CHARS_MAX) } }],
    }),
  )
  t.notOk(
    check.Check({
      model: 'm',
      frame_images: [{ ...FRAME, image_url: { url: url(VIDEO_DATA_URL_CHARS_MAX + 1) } }],
    }),
  )
  const bad = { type: 'image_url', image_url: { url: 'https://u:p@a/' } }
  const outcome = asked(
    {
      duration: 1,
      size: '7x9',
      resolution: '720p',
      aspect_ratio: '1:1',
      input_references: Array(VIDEO_REFERENCES_MAX).fill(bad),
    },
    SETS,
  )
  t.ok(!outcome.ok && (outcome.failure.metadata?.issues?.length ?? 0) <= ISSUES_MAX)
})
