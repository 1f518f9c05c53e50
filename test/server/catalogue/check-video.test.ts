import t from 'tap'
import { PROVIDER_TIMEOUT_MS_MAX } from '../../../src/schemas/models/provider-limits.ts'
import * as limits from '../../../src/schemas/videos/video-model-limits.ts'
import { catalogueOf, loadFiles } from '../../support/models/catalogue.ts'

const PROVIDER = { slug: 'near', protocol: 'openai', base_url: 'https://near.example/v1' }
const ENDPOINT = { provider: 'near', upstream_model: 'clip' }
const VIDEO = { output_modalities: ['video'] }
const MODEL = { id: 'acme/clip', name: 'Clip', architecture: VIDEO, endpoints: [ENDPOINT] }

/** Pointers and messages of what is wrong with a catalogue of one provider and one model. */
function problems(
  t: Parameters<typeof loadFiles>[0],
  { provider = {}, model = {} }: { provider?: object; model?: object },
): readonly string[] {
  const loaded = loadFiles(t, { providers: [{ ...PROVIDER, ...provider }], models: [{ ...MODEL, ...model }] })
  return loaded.ok
    ? []
    : loaded.problems.map(({ path, message, expected }) => `${path} ${message}; expected ${expected}`)
}

t.test('a video model without facts in the catalogue accepts any parameters, and is unpriced', async (t) => {
  const model = catalogueOf(t, { providers: [PROVIDER], models: [MODEL] }).models[0]
  t.match(model, {
    isEmbedding: false,
    isUnpriced: true,
    endpoints: [{ isUnpriced: true, video: { pricing: null } }],
  })
  t.same(model?.video, {
    durations: null,
    resolutions: null,
    aspectRatios: null,
    sizes: null,
    frameImages: null,
    generatesAudio: null,
    takesSeed: null,
    creativity: null,
    upscaleFactor: null,
    passthroughParameters: [],
    isPromptOptional: false,
    takesAudioReferences: false,
    takesVideoReferences: false,
    takesPreviousJob: false,
    defaults: { seconds: limits.VIDEO_SECONDS_DEFAULT, resolution: null, aspectRatio: null },
  })
})

t.test('times, rates and numbers of calls are limited', async (t) => {
  const seconds = limits.VIDEO_SECONDS_MAX
  t.same(problems(t, { model: { video: { durations: [seconds] } } }), [])
  t.same(problems(t, { model: { video: { durations: [seconds + 1] } } }), [
    `/models/0/video/durations/0 is not valid; expected whole seconds, 1 to ${seconds}`,
  ])
  const most = {
    polls_per_second: limits.VIDEO_POLLS_PER_SECOND_MAX,
    poll_first_ms: limits.VIDEO_POLL_MS_MAX,
    poll_max_ms: limits.VIDEO_POLL_MS_MAX,
    submit_timeout_ms: PROVIDER_TIMEOUT_MS_MAX,
    concurrency: limits.VIDEO_CONCURRENCY_MAX,
  }
  t.same(problems(t, { provider: { video: most } }), [])
  for (const [name, value] of Object.entries(most)) {
    for (const bad of [0, value + 1]) {
      t.match(
        problems(t, { provider: { video: { [name]: bad } } })[0],
        `/providers/0/video/${name} is not valid`,
        `${name} ${bad}`,
      )
    }
  }
})

t.test(
  'an entry can state every fact of a video model, and the price of a model applies to endpoints without one',
  async (t) => {
    const video = {
      durations: [4, 8],
      resolutions: ['720p'],
      aspect_ratios: ['16:9'],
      sizes: ['1280x720'],
      frame_images: ['last_frame'],
      generate_audio: true,
      seed: true,
      creativity: [1],
      upscale_factor: { min: 2 },
      passthrough_parameters: ['fps'],
      prompt_optional: true,
      audio_references: true,
      video_references: true,
      previous_job: true,
      defaults: { seconds: 8 },
      pricing_skus: { duration_seconds: '0.1' },
    }
    const endpoints = [
      ENDPOINT,
      { ...ENDPOINT, upstream_model: 'other', video: { pricing_skus: { per_video: '2' } } },
    ]
    const model = catalogueOf(t, { providers: [PROVIDER], models: [{ ...MODEL, video, endpoints }] })
      .models[0]
    t.same(model?.video, {
      durations: [4, 8],
      resolutions: ['720p'],
      aspectRatios: ['16:9'],
      sizes: ['1280x720'],
      frameImages: ['last_frame'],
      generatesAudio: true,
      takesSeed: true,
      creativity: [1],
      upscaleFactor: { min: 2 },
      passthroughParameters: ['fps'],
      isPromptOptional: true,
      takesAudioReferences: true,
      takesVideoReferences: true,
      takesPreviousJob: true,
      defaults: { seconds: 8, resolution: '720p', aspectRatio: '16:9' },
    })
    t.same(
      model?.endpoints.map((endpoint) => endpoint.video?.pricing),
      [
        { perSecond: [{ resolution: null, hasAudio: null, nano: 100_000_000 }], perVideoNano: 0 },
        { perSecond: [], perVideoNano: 2_000_000_000 },
      ],
    )
    t.match(model, {
      isUnpriced: false,
      endpoints: [{ isUnpriced: false, provider: { video: { submit: 'lookup' } } }],
    })
  },
)

t.test('a model without video output has no video settings, and neither have its endpoints', async (t) => {
  const model = catalogueOf(t, { providers: [PROVIDER], models: [{ ...MODEL, architecture: {} }] }).models[0]
  t.match(model, { video: null, bodies: { video: null }, endpoints: [{ video: null }] })
})

const FREE_720 = { duration_seconds_720p: '0.1' }
const SOUND = { resolutions: ['720p', '4K'], generate_audio: true }
const MISTAKES: readonly (readonly [string, Parameters<typeof problems>[1], readonly string[]])[] = [
  ['facts of a model that makes no video', { model: { architecture: {}, video: {} } }, ['/models/0/video']],
  [
    'a price of an endpoint that makes no video',
    { model: { architecture: {}, endpoints: [{ ...ENDPOINT, video: {} }] } },
    ['/models/0/endpoints/0/video'],
  ],
  ['a price per token', { model: { pricing: { prompt: '1' } } }, ['/models/0/pricing']],
  [
    'a price per token of an endpoint',
    { model: { endpoints: [{ ...ENDPOINT, pricing: { request: '1' } }] } },
    ['/models/0/endpoints/0/pricing'],
  ],
  [
    'a price per token of a variant',
    { model: { variants: [{ suffix: 'free', pricing: { prompt: '0' } }] } },
    ['/models/0/variants/0/pricing'],
  ],
  [
    'an unknown SKU',
    { model: { video: { pricing_skus: { 'per-video-second': '1' } } } },
    ['/models/0/video/pricing_skus/per-video-second'],
  ],
  [
    'a price that is a number',
    { model: { video: { pricing_skus: { duration_seconds: 1 } } } },
    ['/models/0/video/pricing_skus'],
  ],
  [
    'a price too fine to count',
    { model: { video: { pricing_skus: { duration_seconds: '0.0000000001' } } } },
    ['/models/0/video/pricing_skus/duration_seconds'],
  ],
  [
    'a price too large to count',
    {
      model: {
        endpoints: [
          { ...ENDPOINT, video: { pricing_skus: { per_video: `${limits.VIDEO_PRICE_USD_MAX + 1}` } } },
        ],
      },
    },
    ['/models/0/endpoints/0/video/pricing_skus/per_video'],
  ],
  [
    'prices that leave an advertised resolution out',
    { model: { video: { resolutions: ['480p', '720p'], pricing_skus: FREE_720 } } },
    ['/models/0/video/pricing_skus'],
  ],
  [
    'prices that leave the resolution of a size out',
    { model: { video: { sizes: ['1280x720', '1920x1080'], pricing_skus: FREE_720 } } },
    ['/models/0/video/pricing_skus'],
  ],
  [
    'prices of one resolution, where any is taken',
    { model: { video: { pricing_skus: FREE_720 } } },
    ['/models/0/video/pricing_skus'],
  ],
  [
    'prices that leave videos with and without sound out',
    {
      model: {
        video: SOUND,
        endpoints: [
          {
            ...ENDPOINT,
            video: {
              pricing_skus: { duration_seconds_with_audio_720p: '1', duration_seconds_without_audio_4k: '1' },
            },
          },
        ],
      },
    },
    ['/models/0/endpoints/0/video/pricing_skus', '/models/0/endpoints/0/video/pricing_skus'],
  ],
  ['a price set that is empty', { model: { video: { pricing_skus: {} } } }, ['/models/0/video/pricing_skus']],
  [
    'defaults that the model does not take',
    {
      model: {
        video: {
          durations: [4],
          resolutions: ['720p'],
          aspect_ratios: ['1:1'],
          defaults: { seconds: 5, resolution: '480p', aspect_ratio: '16:9' },
        },
      },
    },
    [
      '/models/0/video/defaults/seconds',
      '/models/0/video/defaults/resolution',
      '/models/0/video/defaults/aspect_ratio',
    ],
  ],
  [
    'a factor whose least is above its most',
    { model: { video: { upscale_factor: { min: 3, max: 2 } } } },
    ['/models/0/video/upscale_factor/min'],
  ],
  [
    'an empty set, and one with a value twice',
    { model: { video: { durations: [], aspect_ratios: ['1:1', '1:1'] } } },
    ['/models/0/video/durations', '/models/0/video/aspect_ratios'],
  ],
  [
    'an invalid resolution, size and frame',
    { model: { video: { resolutions: ['4k'], sizes: ['big'], frame_images: ['middle'] } } },
    ['/models/0/video/resolutions/0', '/models/0/video/sizes/0', '/models/0/video/frame_images/0'],
  ],
  [
    'a member of no meaning',
    { model: { video: { duration: 4 } }, provider: { video: { poll: 1 } } },
    ['/providers/0/video/poll', '/models/0/video/duration'],
  ],
  [
    'video of a protocol without',
    { provider: { protocol: 'cohere', video: {} } },
    ['/providers/0/video', '/models/0/endpoints/0/provider'],
  ],
  [
    'a token header of a provider without tokens',
    { provider: { video: { token_header: 'X-Token' } } },
    ['/providers/0/video/token_header'],
  ],
  [
    'a header that no request can have',
    { provider: { video: { submit: 'token', token_header: 'a b' } } },
    ['/providers/0/video/token_header'],
  ],
  [
    'a first wait above the longest',
    { provider: { video: { poll_first_ms: 9, poll_max_ms: 8 } } },
    ['/providers/0/video/poll_first_ms'],
  ],
  ['an unknown way to submit', { provider: { video: { submit: 'twice' } } }, ['/providers/0/video/submit']],
]

for (const [name, document, paths] of MISTAKES) {
  t.test(`reports ${name} by its path`, async (t) => {
    t.same(
      problems(t, document).map((problem) => problem.split(' ')[0]),
      paths,
    )
  })
}

t.test('a problem of a price set names the kind of video that has no price', async (t) => {
  t.same(
    problems(t, {
      model: {
        video: { ...SOUND, pricing_skus: { duration_seconds_with_audio: '1', duration_seconds_720p: '1' } },
      },
    }),
    [
      '/models/0/video/pricing_skus has no price for 4K without sound; expected a price for every kind of video the model can make',
    ],
  )
})
