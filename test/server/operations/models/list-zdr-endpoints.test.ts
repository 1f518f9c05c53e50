import { Value } from 'typebox/value'
import t from 'tap'
import { ZdrEndpointsAnswer } from '../../../../src/schemas/models/models.ts'
import { listZdrEndpoints } from '../../../../src/server/operations/models/list-zdr-endpoints.ts'
import { openTexts, servesChat } from '../../../support/endpoints/text-endpoints.ts'
import { KEY, MANAGEMENT_KEY, OTHER_KEY } from '../../../support/front.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { frontOf } from '../../../support/models/model-front.ts'
import { anyOpenRouterClient } from '../../../support/wire/foreign-clients.ts'

/** Of each model one endpoint: it declares no retention, declares retention, or declares nothing. */
const MANY = {
  providers: [{ slug: 'here', protocol: 'local' }],
  models: [true, false, undefined, true].map((zdr, nth) => ({
    id: `acme/m${nth}`,
    name: `M${nth}`,
    endpoints: [
      { provider: 'here', upstream_model: 'a', ...(zdr !== undefined && { zdr }) },
      { provider: 'here', upstream_model: 'b' },
    ],
  })),
}

t.test('endpoints.list_zdr 200: returns endpoints that declare ZDR, for models of any output', async (t) => {
  const { body } = await read(listZdrEndpoints, catalogueOf(t, MANY))
  t.match(body, {
    data: [
      { tag: 'here/a', model_id: 'acme/m0' },
      { tag: 'here/a', model_id: 'acme/m3' },
    ],
  })
  t.equal((body as { data: unknown[] }).data.length, 2, 'what is not known is not declared')
})

t.test('a catalogue without a ZDR endpoint returns an empty list', async (t) => {
  const bare = { providers: MANY.providers, models: MANY.models.slice(1, 3) }
  t.same((await read(listZdrEndpoints, catalogueOf(t, bare))).body, { data: [] })
})

t.test("OpenRouter's client accepts the endpoints", async (t) => {
  const { endpoints } = await anyOpenRouterClient(await frontOf(t, catalogueOf(t, FOUR_MODELS)))
  t.match(await endpoints?.['listZdrEndpoints']?.(), { data: [{ modelId: 'acme/chat', tag: 'near/chat' }] })
})

t.test('private endpoints come first, and only their own workspace gets them', async (t) => {
  const stand = await openTexts(t, servesChat())
  await stand.active({ model_permaslug: 'acme/llama', declared_zdr: true })
  await stand.active({ model_permaslug: 'acme/chat', forms: ['chat'], declared_zdr: true })
  await stand.active({ model_permaslug: 'acme/kept', forms: ['chat'], declared_zdr: false })
  const models = async (key: string): Promise<readonly string[]> => {
    const answer = await fetch(`${stand.fronts[0] ?? ''}/api/v1/endpoints/zdr`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const body = (await answer.json()) as { readonly data: readonly { readonly model_id: string }[] }
    t.ok(Value.Check(ZdrEndpointsAnswer, body), JSON.stringify(body))
    return body.data.map(({ model_id: id }) => id)
  }
  t.same(await models(KEY), ['acme/llama', 'acme/chat'])
  for (const key of [OTHER_KEY, MANAGEMENT_KEY]) t.same(await models(key), [])
})
