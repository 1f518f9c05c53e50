import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import type { PresetConfigs } from '../../../../src/server/ports/presets/presets.ts'
import { openIdempotency } from '../../../../src/server/store/base/idempotency.ts'
import { INTERN_KEY, OTHER_KEY } from '../../../support/front.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { memoryConfigs, type MemoryPresets } from '../../../support/presets/presets.ts'
import { openVideosFront } from '../../../support/videos/videos-front.ts'

/** `fast` was `acme/one` first; the newest is designated. */
const PRESETS: MemoryPresets = {
  fast: [
    { model: 'acme/one' },
    { model: 'acme/embed', provider: { only: ['second'] }, temperature: 1, dimensions: 3 },
  ],
  bare: [{ provider: { only: ['second'] } }],
  odd: [{ model: 'acme/embed', provider: { unknown: 1 } }],
  nested: [{ model: '@preset/fast' }],
  archived: [{ model: 'acme/one' }],
  chat: [{ model: 'acme/chat' }],
  clip: [
    { model: 'acme/any', provider: { only: ['first'] } },
    { model: 'acme/clip', provider: { only: ['nobody'] } },
  ],
}

async function embeddings(
  t: Parameters<typeof openEmbeddings>[0],
  workspaceId = 'w',
  options: Parameters<typeof openEmbeddings>[1] = {},
) {
  const front = await openEmbeddings(t, { presetConfigs: memoryConfigs(PRESETS, workspaceId), ...options })
  const post = async (body: object, headers: Readonly<Record<string, string>> = {}) => {
    const { status, body: answer } = await front.post({ input: 'x', ...body }, headers)
    return [
      status,
      status === 200 ? (answer as { model?: string }).model : answer.error?.metadata['error_type'],
    ]
  }
  return { ...front, send: post }
}

t.test(
  'embeddings use the model and provider of a preset by each form of its name, and members of the request win',
  async (t) => {
    const { send, first, second } = await embeddings(t)
    const calls = (): readonly number[] => [first.calls.length, second.calls.length]
    t.same(await send({ model: '@preset/fast' }), [200, 'acme/embed'])
    t.same(await send({ preset: 'fast' }), [200, 'acme/embed'])
    t.same(await send({ model: '@preset/fast', preset: 'fast' }), [200, 'acme/embed'])
    t.same(calls(), [0, 3], 'only where the preset says')
    t.same(await send({ model: '@preset/fast@1' }), [200, 'acme/one'])
    t.same(await send({ preset: 'fast@1' }), [200, 'acme/one'])
    t.same(calls(), [2, 3])
    t.same(await send({ model: 'acme/embed:floor@preset/bare' }), [200, 'acme/embed:floor'])
    t.same(await send({ model: 'acme/e@preset/fast@2' }), [200, 'acme/embed'])
    t.same(
      await send({ model: 'acme/embed', preset: 'fast@1' }),
      [200, 'acme/embed'],
      'the model of the request',
    )
    t.same(calls(), [3, 5])
    t.same(await send({ model: '@preset/fast', provider: { only: ['first'] } }), [200, 'acme/embed'])
    t.same(await send({ model: '@preset/fast', provider: null }), [200, 'acme/embed'], 'null is said too')
    t.equal(calls()[0], 5)
    const strange = ['preset', 'temperature', 'dimensions', 'provider']
    t.same(
      [...first.calls, ...second.calls].filter(({ body }) => strange.some((name) => name in body)),
      [],
      'nothing else reaches a provider',
    )
  },
)

t.test('members of a preset that an operation cannot use are skipped', async (t) => {
  const { send } = await embeddings(t)
  t.same(await send({ model: '@preset/odd' }), [200, 'acme/embed'])
})

t.test(
  'embeddings.create 404: an unknown, archived or foreign preset, or a version that it lacks',
  async (t) => {
    const { send } = await embeddings(t)
    for (const name of ['nothing', 'archived', 'archived@1']) {
      t.same(await send({ model: `@preset/${name}` }), [404, 'preset_unknown'])
      t.same(
        await send({ model: 'acme/one', preset: name }),
        [404, 'preset_unknown'],
        'whatever model the request has',
      )
    }
    t.same(await send({ model: 'acme/one@preset/fast@3' }), [404, 'preset_version_unknown'])
    t.same(await send({ model: '@preset/nested' }), [404, 'model_unknown'], 'a preset of a preset is none')
    const elsewhere = await embeddings(t, 'another')
    t.same(await elsewhere.send({ model: '@preset/fast' }), [404, 'preset_unknown'])
  },
)

t.test(
  'embeddings.create 400: two presets, an invalid reference, a preset without a model, and no model at all',
  async (t) => {
    const { send, post } = await embeddings(t)
    t.same(await send({ model: '@preset/fast', preset: 'bare' }), [400, 'presets_differ'])
    t.same(await send({ model: '@preset/fast@1', preset: 'fast' }), [400, 'presets_differ'])
    t.same(await send({ model: 'acme/one@preset/fast@1', preset: 'fast@2' }), [400, 'presets_differ'])
    for (const model of [
      '@preset/',
      '@preset/a b',
      'acme/one@preset/..',
      '@preset/fast@0',
      '@preset/fast@preset/fast',
    ]) {
      t.same(await send({ model }), [400, 'preset_reference_invalid'], model)
    }
    t.same(await send({ model: '@preset/bare' }), [400, 'preset_without_model'])
    t.same(await send({ preset: 'bare' }), [400, 'preset_without_model'])
    for (const preset of ['', 'a b', '@preset/fast', 'fast@latest', 7, null])
      t.same(await send({ preset }), [400, 'body_invalid'])
    const { body } = await post({ input: 'x' })
    t.match(body.error, {
      code: 400,
      metadata: { issues: [{ path: '/model', message: 'is required', expected: 'string, not empty' }] },
    })
  },
)

t.test('a model name with any other @ is looked up unchanged', async (t) => {
  const { send } = await embeddings(t)
  for (const model of ['acme/one@3', '@acme/one', 'acme/one@preset'])
    t.same(await send({ model }), [404, 'model_unknown'])
})

t.test('the model of a preset is checked against the key’s list of models', async (t) => {
  const { send } = await embeddings(t, 'w', { keys: { allowedModels: ['acme/embed'] } })
  t.same(await send({ model: '@preset/fast' }), [200, 'acme/embed'])
  t.match(await send({ model: '@preset/fast@1' }), [403, 'model_not_allowed'])
})

t.test(
  'an intern’s key uses the presets of its workspace, also with a body that a worker thread parses',
  async (t) => {
    const { send, second } = await embeddings(t)
    t.same(await send({ model: '@preset/fast' }, { authorization: `Bearer ${INTERN_KEY}` }), [
      200,
      'acme/embed',
    ])
    const input = Array.from({ length: 300 }, () => 'word '.repeat(INLINE_JSON_BYTES_MAX / 1000))
    t.same(await send({ preset: 'fast', input }, { authorization: `Bearer ${OTHER_KEY}` }), [
      200,
      'acme/embed',
    ])
    t.equal(second.calls.length, 2)
  },
)

t.test('video jobs use the model of a preset, and no other member of it', async (t) => {
  const front = await openVideosFront(t, { ports: { presetConfigs: memoryConfigs(PRESETS, 'w') } })
  const sent = async (body: object) => {
    const { status, body: answer } = await front.post({ prompt: 'a boat', ...body })
    return status === 202
      ? front.videos.inputs.at(-1)?.target.model
      : [status, answer.error?.metadata.error_type]
  }
  t.equal(await sent({ model: '@preset/clip' }), 'acme/clip')
  t.equal(await sent({ model: '@preset/clip@1' }), 'acme/any')
  t.equal(await sent({ preset: 'clip@1' }), 'acme/any')
  t.equal(await sent({ model: 'acme/any@preset/clip' }), 'acme/any')
  t.equal(await sent({ model: 'acme/stills', preset: 'clip', frame_images: FRAME }), 'acme/stills')
  t.same(await sent({ preset: 'bare' }), [400, 'preset_without_model'])
  t.same(await sent({ model: '@preset/clip', preset: 'fast' }), [400, 'presets_differ'])
  t.same(await sent({ model: '@preset/clip@3' }), [404, 'preset_version_unknown'])
  t.same(await sent({ model: '@preset/chat' }), [400, 'model_unfit'])
  t.same(await sent({}), [400, 'body_invalid'])
})

t.test('embeddings.create 503: the preset cannot be read from the store', async (t) => {
  const { send } = await embeddings(t, 'w', {
    presetConfigs: { find: () => Promise.resolve(fail('store_unavailable', { retryAfterS: 1 })) },
  })
  t.same(await send({ preset: 'fast' }), [503, 'store_unavailable'])
  t.same(await send({ model: 'acme/one' }), [200, 'acme/one'], 'which concerns nobody else')
})

t.test(
  'a repeated submission is recognized by the body as sent, even if the preset has changed',
  async (t) => {
    const idempotency = openIdempotency({
      store: await openTestStore(t),
      now: () => performance.now(),
      random: Math.random,
    })
    t.teardown(() => idempotency.close())
    const state = { presets: memoryConfigs(PRESETS, 'w') }
    const presetConfigs: PresetConfigs = { find: (workspaceId, use) => state.presets.find(workspaceId, use) }
    const front = await openVideosFront(t, { ports: { idempotency, presetConfigs } })
    const send = (body: object) => front.post({ prompt: 'a boat', ...body }, { 'idempotency-key': 'once' })
    const first = await send({ model: '@preset/clip' })
    state.presets = memoryConfigs({ clip: [{ model: 'acme/any' }] }, 'w')
    t.same((await send({ model: '@preset/clip' })).body, first.body)
    t.equal(
      (await send({ model: 'acme/clip' })).body.error?.metadata.error_type,
      'idempotency_mismatch',
      'another body, though it meant the same',
    )
    t.same(
      front.videos.inputs.map(({ target }) => target.model),
      ['acme/clip'],
    )
  },
)

const FRAME = [
  { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' }, frame_type: 'first_frame' },
]
