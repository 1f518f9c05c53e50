/** The official client through the egress route, with a placeholder for its key. */
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { openEgressFront, type EgressFront } from '../../../support/egress/egress-front.ts'
import { KEY } from '../../../support/front.ts'
import { refuses, vectorOf } from '../../../support/embeddings/provider-behaviours.ts'
import { startProvider, type ScriptedProvider } from '../../../support/embeddings/provider.ts'

const PROVIDER_KEY = 'sk-provider-0123456789'

interface Stand extends EgressFront {
  readonly provider: ScriptedProvider
  readonly client: OpenAI
}

async function open(t: Test, apiKey = '{{secret:openai_key}}'): Promise<Stand> {
  const provider = await startProvider()
  t.teardown(() => provider.close())
  const front = await openEgressFront(t, { target: () => undefined, secrets: { openai_key: PROVIDER_KEY } })
  const baseURL = `${front.url}/egress/localhost:${new URL(provider.origin).port}/v1`
  return {
    ...front,
    provider,
    client: new OpenAI({ baseURL, apiKey, defaultHeaders: { 'x-sluice-key': KEY }, maxRetries: 0 }),
  }
}

function refusalOf(client: OpenAI): Promise<unknown> {
  return client.embeddings.create({ model: 'any', input: 'x' }).then(
    () => null,
    (error: unknown) => error,
  )
}

t.test('the provider gets the key, and the client never sees it', async (t) => {
  const { client, provider, lines, releases } = await open(t)
  const answer = await client.embeddings.create({ model: 'any', input: 'one two' })
  t.same([...(answer.data[0]?.embedding ?? [])], vectorOf('one two', 8))
  t.match(provider.calls, [{ path: '/v1/embeddings', headers: { authorization: `Bearer ${PROVIDER_KEY}` } }])
  t.notOk(Object.keys(provider.calls[0]?.headers ?? {}).some((name) => name.startsWith('x-sluice')))
  t.match(releases, [{ name: 'openai_key', host: 'localhost' }])
  t.notMatch(lines.join('\n') + JSON.stringify(answer), PROVIDER_KEY)
})

t.test('the client understands refusals of the provider and refusals of Sluice', async (t) => {
  const { client, provider } = await open(t)
  provider.script(refuses(404, 'no such model'))
  t.match(await refusalOf(client), { status: 404 })
  const { client: unbound, provider: other } = await open(t, '{{secret:unknown}}')
  t.match(await refusalOf(unbound), {
    status: 403,
    message: /No secret `unknown` is bound to exactly this host/,
  })
  t.equal(other.calls.length, 0)
})
