/** Calls of a workspace's own key, in the header of the provider's protocol. */
import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { CountJob } from '../../../src/server/ports/inference/inference.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import { CallMedia } from '../../../src/server/upstream/inference/inline/call-media.ts'
import { threads } from '../../support/front.ts'
import { refusesMessages, strictMessages } from '../../support/inference/fake-messages.ts'
import { startFakeProvider } from '../../support/inference/fake-provider.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'
import { must, present } from '../../support/must.ts'
import { writerOpener } from '../../../src/server/inference/inference.ts'

const PROMPT = '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}'
const CALLER = { organizationId: 'o', workspaceId: 'w', key: 'k' }

t.test('sends the key of a workspace in the form of the protocol, and blames it for refusals', async (t) => {
  const provider = await startFakeProvider(strictMessages())
  const egress = openEgress()
  t.teardown(async () => {
    await egress.close()
    await provider.close()
  })
  const open = writerOpener({ egress, jobs: threads(), credentials: new Map() })
  const released = new Secret('own-key-0123456789')
  const ownWay = { destination: null, secretName: 'anthropic_api_key', released, release: () => null }
  const endpointOf = (protocol: string): Endpoint =>
    ({
      provider: { slug: 'own', name: 'Own', protocol, baseUrl: `${provider.origin}/v1`, apiKeyEnv: 'KEY' },
      ...{ upstreamModel: 'up', text: { speaks: ['messages'] }, ownWay },
    }) as unknown as Endpoint
  const { digest, body: source } = keptChat(PROMPT, { dialect: 'messages' })
  const job = {
    ...{ request: { ...digest, source }, caller: CALLER, requestId: 'r', hops: 0 },
    ...{ models: [], deadlineAt: performance.now() + 60_000, call: { signal: new AbortController().signal } },
  } as unknown as CountJob
  const media = new CallMedia(egress, job)
  for (const [protocol, name, value] of [
    ['anthropic', 'x-api-key', 'own-key-0123456789'],
    ['google', 'x-goog-api-key', 'own-key-0123456789'],
    ['openai', 'authorization', 'Bearer own-key-0123456789'],
  ] as const) {
    const writer = present(open(endpointOf(protocol)))
    must(await writer.count(job, media))
    const { headers } = present(provider.calls.at(-1))
    t.equal(headers[name], value)
    t.equal(headers[name === 'authorization' ? 'x-api-key' : 'authorization'], undefined)
    provider.script(refusesMessages(401, { type: 'authentication_error' }))
    t.match(await writer.count(job, media), {
      failure: { name: 'upstream_own_key', fields: { secret: 'anthropic_api_key' } },
    })
  }
})
