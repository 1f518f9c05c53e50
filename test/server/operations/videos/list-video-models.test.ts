import { Value } from 'typebox/value'
import t from 'tap'
import { VideoModel } from '../../../../src/schemas/videos/video-models.ts'
import { buildRouteTable } from '../../../../src/server/http/call/route-table.ts'
import { createEmbeddings } from '../../../../src/server/operations/embeddings/create-embeddings.ts'
import { listModels } from '../../../../src/server/operations/models/list-models.ts'
import { listVideoModels } from '../../../../src/server/operations/videos/list-video-models.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, idsOf, read } from '../../../support/keys/model-reads.ts'

const VIDEO = { output_modalities: ['video'] }
const FULL = {
  id: 'acme/clip',
  name: 'Clip',
  canonical_slug: 'acme/clip-2026',
  description: 'Makes clips',
  created: '2026-01-02',
  hugging_face_id: 'acme/c',
  architecture: VIDEO,
  variants: ['fast'],
  video: {
    durations: [4, 8],
    resolutions: ['720p', '4K'],
    aspect_ratios: ['16:9'],
    sizes: ['1280x720'],
    frame_images: ['first_frame', 'last_frame'],
    generate_audio: true,
    seed: false,
    creativity: [0, 1],
    upscale_factor: { min: 1.5, max: 3 },
    passthrough_parameters: ['negativePrompt'],
    pricing_skus: { duration_seconds: '0.40', duration_seconds_4k: '0.6' },
  },
  endpoints: [{ provider: 'near', upstream_model: 'clip' }],
}
const BARE = {
  id: 'acme/bare',
  name: 'Bare',
  architecture: VIDEO,
  endpoints: [{ provider: 'here', upstream_model: 'bare' }],
}
const DOCUMENT = { ...FOUR_MODELS, models: [...FOUR_MODELS.models, FULL, BARE] }
const NULLABLE = [
  'creativity',
  'generate_audio',
  'seed',
  'supported_aspect_ratios',
  'supported_durations',
  'supported_frame_images',
  'supported_resolutions',
  'supported_sizes',
  'upscale_factor',
  'pricing_skus',
]

t.test('video.list_models 200: returns the video models with everything that each accepts', async (t) => {
  t.same((await read(listVideoModels, catalogueOf(t, DOCUMENT))).body, {
    data: [
      {
        id: 'acme/clip',
        canonical_slug: 'acme/clip-2026',
        name: 'Clip',
        created: 1_767_312_000,
        description: 'Makes clips',
        hugging_face_id: 'acme/c',
        allowed_passthrough_parameters: ['negativePrompt'],
        creativity: [0, 1],
        generate_audio: true,
        seed: false,
        pricing_skus: { duration_seconds: '0.40', duration_seconds_4k: '0.6' },
        supported_aspect_ratios: ['16:9'],
        supported_durations: [4, 8],
        supported_frame_images: ['first_frame', 'last_frame'],
        supported_resolutions: ['720p', '4K'],
        supported_sizes: ['1280x720'],
        upscale_factor: { min: 1.5, max: 3 },
      },
      {
        id: 'acme/bare',
        canonical_slug: 'acme/bare',
        name: 'Bare',
        created: 0,
        allowed_passthrough_parameters: [],
        ...Object.fromEntries(NULLABLE.map((name) => [name, null])),
      },
    ],
  })
})

t.test('video.list_models 200: returns an empty list for a catalogue without video models', async (t) => {
  t.same((await read(listVideoModels, catalogueOf(t, FOUR_MODELS))).body, { data: [] })
})

t.test('nullable members are always present, because clients refuse video models without them', async (t) => {
  const { data } = (await read(listVideoModels, catalogueOf(t, DOCUMENT))).body as { data: object[] }
  for (const name of NULLABLE) t.notOk(Value.Check(VideoModel, { ...data[1], [name]: undefined }), name)
})

t.test('a model list can be filtered by video, and contains only text models by default', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT)
  t.same(idsOf(await read(listModels, catalogue, { query: { output_modalities: 'video' } })), [
    'acme/clip',
    'acme/bare',
  ])
  t.same(idsOf(await read(listModels, catalogue)), ['acme/chat', 'other/chat'])
})

t.test('the list route takes precedence over a path with any id, in either declaration order', async (t) => {
  const anyId = { ...listVideoModels, id: 'any', path: '/videos/{id}' }
  for (const operations of [
    [anyId, listVideoModels],
    [listVideoModels, anyId],
  ]) {
    const table = buildRouteTable(operations)
    t.match(table.find('get', '/api/v1/videos/models'), { route: { operation: { id: 'video.list_models' } } })
    t.match(table.find('head', '/api/v1/videos/models/'), {
      route: { operation: { id: 'video.list_models' } },
    })
    t.match(table.find('get', '/api/v1/videos/vid_1'), { route: { operation: { id: 'any' } } })
  }
})

t.test('embeddings refuse a video model', async (t) => {
  const models = catalogueOf(t, DOCUMENT)
  const ports = { models, privateModels: { of: () => null } } as never
  const call = {
    body: { model: 'acme/clip', input: 'x' },
    key: { allowedModels: null, scopes: null, workspaceId: 'w' },
    headers: {},
  } as never
  t.match(await createEmbeddings.run(call, ports), { ok: false, failure: { name: 'model_unfit' } })
})
