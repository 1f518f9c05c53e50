import t from 'tap'
import { getModel } from '../../../../src/server/operations/models/get-model.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'

t.test('models.get 200: returns every required member, and omits optional members with null', async (t) => {
  const { status, body } = await read(getModel, catalogueOf(t, FOUR_MODELS), {
    params: { author: 'other', slug: 'chat' },
  })
  t.equal(status, 200)
  t.same(body, {
    data: {
      id: 'other/chat',
      canonical_slug: 'other/chat',
      name: 'Other chat',
      created: 0,
      context_length: null,
      architecture: {
        modality: 'text->text',
        input_modalities: ['text'],
        output_modalities: ['text'],
        instruct_type: null,
      },
      pricing: { prompt: '0', completion: '0', request: '0', image: '0' },
      top_provider: { is_moderated: false, context_length: null, max_completion_tokens: null },
      supported_parameters: [],
      supported_voices: null,
      default_parameters: null,
      per_request_limits: null,
      expiration_date: null,
      knowledge_cutoff: null,
      links: { details: '/api/v1/models/other/chat/endpoints' },
    },
  })
})

t.test('models.get 200: an alias returns the canonical model and alias_target', async (t) => {
  const { body } = await read(getModel, catalogueOf(t, FOUR_MODELS), {
    params: { author: 'acme', slug: 'e' },
  })
  t.match(body, { data: { id: 'acme/embed', alias_target: { name: 'Embed', slug: 'acme/embed' } } })
})

t.test('models.get 200: the id of a variant has the suffix, and its canonical_slug has none', async (t) => {
  const { body } = await read(getModel, catalogueOf(t, FOUR_MODELS), {
    params: { author: 'acme', slug: 'embed:floor' },
  })
  t.match(body, { data: { id: 'acme/embed:floor', canonical_slug: 'acme/embed' } })
})

t.test('models.get 404: an unknown author, slug or variant', async (t) => {
  for (const [author, slug] of [
    ['acme', 'none'],
    ['none', 'embed'],
    ['acme', 'embed:none'],
    ['acme', 'chat:floor'],
  ]) {
    const { status, failure } = await read(getModel, catalogueOf(t, FOUR_MODELS), {
      params: { author, slug },
    })
    t.match({ status, failure }, { status: 404, failure: { name: 'model_unknown' } }, `${author}/${slug}`)
  }
})
