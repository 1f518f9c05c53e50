import OpenAI from 'openai'
import t from 'tap'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { frontOf } from '../../../support/models/model-front.ts'
import { FOUR_MODELS } from '../../../support/keys/model-reads.ts'

t.test('the official client lists models and reads one by its id or an alias', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  const client = new OpenAI({ baseURL: front.baseUrl, apiKey: front.apiKey, maxRetries: 0 })
  const listed: string[] = []
  for await (const model of client.models.list()) listed.push(model.id)
  t.same(listed, ['acme/chat', 'other/chat'])
  t.match(await client.models.retrieve('acme/embed'), { id: 'acme/embed', object: 'model', owned_by: 'acme' })
  t.match(await client.models.retrieve('embed'), { id: 'acme/embed' })
})

t.test('a failed read reaches the official client with its status and request id', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  const client = new OpenAI({ baseURL: front.baseUrl, apiKey: front.apiKey, maxRetries: 0 })
  const error: unknown = await client.models.retrieve('acme/none').catch((reason: unknown) => reason)
  if (!(error instanceof OpenAI.APIError)) throw new Error('no API error')
  t.equal(error.status, 404)
  t.match(error.requestID, /^.{16,64}$/)
})
