import t from 'tap'
import { hangsUp, refuses, sendsHalfJson, sendsHtml, type Behaviour } from '../support/provider-behaviours.ts'
import { startProvider } from '../support/provider.ts'
import { PROVIDER_KEY, startStand, type Stand } from '../support/stand.ts'

/** What must never come out: the provider's key, a caller's key, what a caller embeds. */
const PROVIDER_CANARY = 'sk-canary-provider-5b1c0f'
const TEXT_CANARY = 'canary-text-93ae77'
const UNKNOWN_CANARY = 'sk-sluice-v1-canary-unknown-2d4f'

const provider = await startProvider()
const stand = await startStand({
  provider: provider.origin,
  settings: { SLUICE_LOG_LEVEL: 'debug', [PROVIDER_KEY]: PROVIDER_CANARY },
})
t.teardown(async () => {
  await stand.stop()
  await provider.close()
})

/** Providers that quote what they were sent, in each status that Sluice treats in its own way. */
const BEHAVIOURS: readonly (readonly [string, Behaviour])[] = [
  [
    'a success',
    ({ res }) => {
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}',
        )
    },
  ],
  ...[400, 401, 403, 404, 422, 429, 500, 503, 529].map(
    (status) =>
      [
        `a ${status} that quotes the key`,
        refuses(status, `Incorrect API key provided: ${PROVIDER_CANARY}.`),
      ] as const,
  ),
  ['half a JSON', sendsHalfJson],
  ['HTML', sendsHtml],
  ['a hang-up', hangsUp],
]

const replies: string[] = []

t.test('the provider got the key: the canary is alive', async (t) => {
  await send(stand, { key: stand.keys.inference_key, input: TEXT_CANARY })
  t.equal(provider.calls.at(-1)?.headers.authorization, `Bearer ${PROVIDER_CANARY}`)
  t.match(provider.calls.at(-1)?.text, TEXT_CANARY)
})

for (const [name, behaviour] of BEHAVIOURS) {
  t.test(`no reply holds the provider's key: ${name}`, async (t) => {
    provider.usually(behaviour)
    const reply = await send(stand, { key: stand.keys.inference_key, input: TEXT_CANARY })
    t.notMatch(reply, PROVIDER_CANARY)
  })
}

t.test('no reply to a refused caller holds its key or its text', async (t) => {
  for (const wrong of [
    { key: UNKNOWN_CANARY, input: TEXT_CANARY },
    { key: stand.keys.inference_key, input: { [TEXT_CANARY]: 1 } },
  ]) {
    const reply = await send(stand, wrong)
    t.notMatch(reply, UNKNOWN_CANARY)
    t.notMatch(reply, new RegExp(`"message":[^}]*${TEXT_CANARY}`))
  }
})

t.test('neither logs nor pages of the operator hold a canary or an API key', async (t) => {
  const pages = await Promise.all(['/metrics', '/readyz', '/healthz'].map((path) => stand.admin(path)))
  const verbs = [await stand.cli('config', 'print'), await stand.cli('models', 'list')]
  const outputs = [stand.output(), ...pages.map((page) => page.text), JSON.stringify(verbs), ...replies]
  for (const canary of [PROVIDER_CANARY, TEXT_CANARY, UNKNOWN_CANARY]) {
    t.same(outputs.slice(0, -replies.length).filter((text) => text.includes(canary)).length, 0, canary)
  }
  // Keys are shown once, at the first start, and the ready line is not where.
  const logs = stand
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .join('\n')
  for (const key of [stand.keys.inference_key, stand.keys.management_key]) t.notMatch(logs, key)
})

async function send(to: Stand, { key, input }: { key: string; input: unknown }): Promise<string> {
  const request = to.embeddings(key)
  const answer = await fetch(`http://127.0.0.1:${to.port}${request.path}`, {
    method: 'POST',
    headers: request.headers,
    body: JSON.stringify({ model: 'bench/embed', input, user: TEXT_CANARY }),
  })
  const text = `${JSON.stringify([...answer.headers])} ${await answer.text()}`
  replies.push(text)
  return text
}
