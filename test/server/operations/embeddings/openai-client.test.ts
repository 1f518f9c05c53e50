/** The official client, changed in its base URL and key only. */
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { openEmbeddings, type EmbeddingsFront } from '../../../support/embeddings/embeddings-front.ts'
import { KEY } from '../../../support/front.ts'
import { atPace } from '../../../support/load/pace.ts'
import { neverAnswers, refuses, vectorOf } from '../../../support/embeddings/provider-behaviours.ts'

async function connected(
  t: Test,
  options: Parameters<typeof openEmbeddings>[1] = {},
): Promise<EmbeddingsFront & { readonly client: OpenAI }> {
  const front = await openEmbeddings(t, options)
  return { ...front, client: new OpenAI({ baseURL: `${front.url}/api/v1`, apiKey: KEY, maxRetries: 0 }) }
}

async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error
    throw error
  }
  throw new Error('the call succeeded')
}

t.test(
  'embeds a string, several strings and tokens, as base64 (the default of the client) and as floats',
  async (t) => {
    const { client, first } = await connected(t)
    const model = 'acme/one'
    const asDefault = await client.embeddings.create({ model, input: 'one two' })
    const asFloat = await client.embeddings.create({ model, input: 'one two', encoding_format: 'float' })
    t.equal(first.calls[0]?.body['encoding_format'], 'base64')
    t.equal(first.calls[1]?.body['encoding_format'], undefined)
    t.same([...(asDefault.data[0]?.embedding ?? [])], vectorOf('one two', 8))
    t.same(asFloat.data, [{ object: 'embedding', index: 0, embedding: vectorOf('one two', 8) }])
    t.match(asFloat, { object: 'list', model, usage: { prompt_tokens: 2, total_tokens: 2 } })
    t.equal((await client.embeddings.create({ model, input: ['a', 'b', 'c'] })).data.length, 3)
    t.equal((await client.embeddings.create({ model, input: [1, 2, 3] })).data.length, 1)
    t.equal((await client.embeddings.create({ model, input: [[1], [2]] })).data.length, 2)
  },
)

t.test('a provider and the lexical model return the requested dimensions', async (t) => {
  const { client } = await connected(t)
  for (const model of ['acme/one', 'sluice/lexical-1']) {
    const { data } = await client.embeddings.create({ model, input: 'x', dimensions: 5 })
    t.equal(data[0]?.embedding.length, 5)
  }
})

t.test('models are listed', async (t) => {
  const { client } = await connected(t)
  const ids = (await client.models.list({ query: { output_modalities: 'all' } })).data.map(({ id }) => id)
  t.ok(ids.includes('acme/embed') && ids.includes('sluice/lexical-1'))
})

t.test('errors have their status, code, message and request id in the client', async (t) => {
  const { client, first } = await connected(t)
  const unknown = await failureOf(client.embeddings.create({ model: 'acme/none', input: 'x' }))
  t.ok(unknown instanceof OpenAI.NotFoundError)
  t.match(unknown, { status: 404, code: 404, message: /There is no such model/ })
  t.match(unknown.requestID, /^[A-Za-z0-9]{16,64}$/)
  first.script(refuses(400, 'too long'), refuses(429), refuses(500))
  const failing = (from: OpenAI) => failureOf(from.embeddings.create({ model: 'acme/one', input: 'x' }))
  for (const status of [400, 529, 502]) t.match(await failing(client), { status, requestID: /./ })
  await atPace(100, async (timeoutMs) => {
    const hurried = await connected(t, { timeoutMs })
    hurried.first.script(neverAnswers)
    const failure = await failing(hurried.client)
    // Its time was over before it was sent.
    if (failure.status === 503) return false
    t.match(failure, { status: 524, requestID: /./ })
    return true
  })
})

t.test('a wrong key is an authentication error in the client', async (t) => {
  const { url } = await connected(t)
  const stranger = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: 'sk-wrong', maxRetries: 0 })
  t.ok(
    (await failureOf(stranger.embeddings.create({ model: 'acme/one', input: 'x' }))) instanceof
      OpenAI.AuthenticationError,
  )
})
