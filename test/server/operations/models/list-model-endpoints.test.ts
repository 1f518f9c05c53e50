import t from 'tap'
import { listModelEndpoints } from '../../../../src/server/operations/models/list-model-endpoints.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'

t.test(
  'models.endpoints 200: returns every endpoint with every required member, and null for figures without measurements',
  async (t) => {
    const { status, body } = await read(listModelEndpoints, catalogueOf(t, FOUR_MODELS), {
      params: { author: 'acme', slug: 'embed' },
    })
    t.equal(status, 200)
    t.match(body, {
      data: {
        id: 'acme/embed',
        name: 'Embed',
        created: 1_717_200_000,
        description: 'Puts text into a space',
      },
    })
    t.same((body as { data: { endpoints: unknown } }).data.endpoints, [
      {
        name: 'Near | acme/embed',
        model_id: 'acme/embed',
        model_name: 'Embed',
        provider_name: 'Near',
        tag: 'near/embed',
        context_length: 8_192,
        quantization: null,
        max_completion_tokens: null,
        max_prompt_tokens: null,
        pricing: { prompt: '0.00000002', completion: '0', request: '0', image: '0' },
        supported_parameters: [],
        supports_implicit_caching: false,
        supports_tool_choice: { auto: false, function: false, none: false, required: false },
        uptime_last_5m: null,
        uptime_last_30m: null,
        uptime_last_1d: null,
        latency_last_30m: null,
        throughput_last_30m: null,
        status: 0,
      },
    ])
  },
)

t.test('models.endpoints 200: also for variants, aliases and a model without a description', async (t) => {
  const catalogue = catalogueOf(t, FOUR_MODELS)
  t.match(await read(listModelEndpoints, catalogue, { params: { author: 'acme', slug: 'e:floor' } }), {
    body: { data: { id: 'acme/embed:floor' } },
  })
  t.match(await read(listModelEndpoints, catalogue, { params: { author: 'other', slug: 'chat' } }), {
    body: { data: { description: '' } },
  })
})

t.test('models.endpoints 404: an unknown model', async (t) => {
  const { status, failure } = await read(listModelEndpoints, catalogueOf(t, FOUR_MODELS), {
    params: { author: 'acme', slug: 'none' },
  })
  t.match({ status, failure }, { status: 404, failure: { name: 'model_unknown' } })
})

t.test('models.endpoints 200: conditional prices are in `overrides` and in `x.modifiers`', async (t) => {
  const overrides = [{ min_prompt_tokens: 200_000, prompt: '0.000002' }]
  const modifiers = [{ when: { service_tier: 'flex' }, multiplier: '0.5' }]
  const catalogue = catalogueOf(t, {
    providers: [{ slug: 'near', protocol: 'openai', base_url: 'https://near.example/v1' }],
    models: [
      {
        ...{ id: 'acme/write', name: 'Write', pricing: { prompt: '0.000001', completion: '0', overrides } },
        modifiers,
        endpoints: [{ provider: 'near', upstream_model: 'write' }],
      },
    ],
  })
  const { body } = await read(listModelEndpoints, catalogue, { params: { author: 'acme', slug: 'write' } })
  t.match(body, { data: { endpoints: [{ pricing: { prompt: '0.000001', overrides }, x: { modifiers } }] } })
  t.match(catalogue.resolve('acme/write')?.wire, { pricing: { overrides }, x: { modifiers } })
})
