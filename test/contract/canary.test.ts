import t from 'tap'
import {
  hangsUp,
  refuses,
  sendsHalfJson,
  sendsHtml,
  type Behaviour,
} from '../support/embeddings/provider-behaviours.ts'
import { startProvider } from '../support/embeddings/provider.ts'
import { PROVIDER_KEY, startStand, type Stand } from '../support/nodes/stand.ts'
import { runVerb } from '../support/operator/verbs.ts'
import { until } from '../support/wait.ts'

/** What must never come out: the provider's key, a caller's key, what a caller embeds. */
const PROVIDER_CANARY = 'sk-canary-provider-5b1c0f'
const TEXT_CANARY = 'canary-text-93ae77'
const UNKNOWN_CANARY = 'sk-sluice-v1-canary-unknown-2d4f'
/** Of a video job: what is asked for, and the secrets in its addresses. */
const PROMPT_CANARY = 'canary prompt 4e1d88'
const CALLBACK_CANARY = 'canary-callback-c07b2a'
const IMAGE_CANARY = 'canary-image-71d3f9'

t.setTimeout(600_000)

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

t.test('the provider receives its key and the text, so both canaries are in use', async (t) => {
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

t.test('no reply to a refused caller contains its key or its text', async (t) => {
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
  const listed = (): Promise<object> => stand.cli('logs', '--limit', '1000')
  await until('the request log has what failed', async () =>
    /"upstream_/.test(JSON.stringify(await listed())),
  )
  const requests = await listed()
  const verbs = [requests, await stand.cli('config', 'print'), await stand.cli('models', 'list')]
  const outputs = [stand.output(), ...pages.map((page) => page.text), JSON.stringify(verbs), ...replies]
  for (const canary of [PROVIDER_CANARY, TEXT_CANARY, UNKNOWN_CANARY]) {
    t.same(outputs.slice(0, -replies.length).filter((text) => text.includes(canary)).length, 0, canary)
  }
  // The first keys are shown on a terminal alone.
  for (const key of [stand.keys.inference_key, stand.keys.management_key]) t.notMatch(stand.output(), key)
})

t.test('no prompt, address or webhook secret of a video job is in a reply, a log or a page', async (t) => {
  const {
    data: [{ secret }],
  } = (await stand.cli('webhooks', 'secret', 'show', 'default')) as { data: [{ secret: string }] }
  const job = {
    model: 'sluice/clip-1',
    prompt: PROMPT_CANARY,
    duration: 1,
    callback_url: `https://hooks.invalid/in?token=${CALLBACK_CANARY}`,
  }
  const image_url = { url: `https://images.invalid/a.png?sig=${IMAGE_CANARY}` }
  const bodies = [
    job,
    { ...job, frame_images: [{ type: 'image_url', image_url, frame_type: 'first_frame' }] },
    { ...job, duration: 99 },
    { ...job, callback_url: `https://hooks.invalid:22/${CALLBACK_CANARY}` },
    { ...job, prompt: [PROMPT_CANARY], [PROMPT_CANARY]: 1 },
  ]
  const stated = await Promise.all(bodies.map((body) => videos('', body)))
  t.same(
    stated.map(({ status }) => status),
    [202, 202, 400, 400, 400],
  )
  const ids = stated.slice(0, 2).map(({ body }) => String(body['id']))
  const ends = await Promise.all(ids.map(untilEnded))
  t.same(
    ends.map(({ body }) => body['status']),
    ['completed', 'failed'],
    'the canaries are alive',
  )
  await untilTried(ids)
  for (const id of ids) t.match(stand.output(), id, 'the log speaks of the job')
  const pages = await Promise.all(['/metrics', '/readyz', '/healthz'].map((path) => stand.admin(path)))
  const verbs = [['webhooks', 'list'], ['usage'], ['ledger', 'check'], ['audit', 'list']]
  // It ends with 1: the first keys are still there.
  const doctor = await runVerb(stand.settings, ['doctor', '--strict', '--json'])
  t.match(JSON.parse(doctor.stdout), { ok: false })
  const printed = [doctor, ...(await Promise.all(verbs.map((verb) => stand.cli(...verb))))]
  const listed = await videos('')
  const outputs = [
    stand.output(),
    JSON.stringify([pages, printed]),
    ...[...stated, ...ends, listed].map(({ text }) => text),
  ]
  for (const canary of [PROMPT_CANARY, CALLBACK_CANARY, IMAGE_CANARY, secret]) {
    t.same(
      outputs.filter((text) => text.includes(canary)).map((text) => text.slice(0, 80)),
      [],
      canary.slice(0, 20),
    )
  }
})

t.test('no SCIM token is in a reply, a log, a page, a list or the audit log', async (t) => {
  const made = (await stand.cli('scim', 'tokens', 'create', '--name', 'canary')) as {
    token: string
    id: string
  }
  const call = async (path: string, key: string): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${stand.port}${path}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`
  }
  const paths = [
    '/scim/v2/ServiceProviderConfig',
    '/scim/v2/Nothing',
    '/api/v1/models',
    `/scim/v2/${made.token}`,
  ]
  const stated = await Promise.all(paths.map((path) => call(path, made.token)))
  t.match(stated, [/^200 .*"patch":\{"supported":true\}/, /^404 /, /^403 .*needs an inference/, /^404 /])
  const printed = await Promise.all(
    [
      ['scim', 'tokens', 'list'],
      ['keys', 'list'],
      ['audit', 'list'],
    ].map((verb) => stand.cli(...verb)),
  )
  t.match(JSON.stringify(printed), made.id, 'the canary is alive')
  await stand.cli('scim', 'tokens', 'revoke', made.id)
  const pages = await Promise.all(['/metrics', '/readyz'].map((path) => stand.admin(path)))
  const outputs = [
    stand.output(),
    ...stated,
    ...printed.map((one) => JSON.stringify(one)),
    ...pages.map(({ text }) => text),
  ]
  t.same(
    outputs.filter((text) => text.includes(made.token)).map((text) => text.slice(0, 80)),
    [],
  )
})

interface Stated {
  readonly status: number
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

async function videos(path: string, body?: object): Promise<Stated> {
  const answer = await fetch(`${stand.keys.base_url}/videos${path}`, {
    headers: { authorization: `Bearer ${stand.keys.inference_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = `${JSON.stringify([...answer.headers])} ${await answer.clone().text()}`
  return { status: answer.status, text, body: (await answer.json()) as Stated['body'] }
}

async function untilEnded(id: string): Promise<Stated> {
  let text = await videos(`/${id}`)
  await until('the job has ended', async () => {
    text = await videos(`/${id}`)
    return text.body['status'] === 'completed' || text.body['status'] === 'failed'
  })
  return text
}

/** An attempt of each has failed: what is logged of it has been. */
async function untilTried(ids: readonly string[]): Promise<void> {
  const headers = { authorization: `Bearer ${stand.keys.management_key}`, connection: 'close' }
  await until('each was tried', async () => {
    const answer = await fetch(`${stand.keys.base_url}/admin/webhooks`, { headers })
    const { data } = (await answer.json()) as { data: readonly { job_id: string; attempts: number }[] }
    return ids.every((id) => data.some((row) => row.job_id === id && row.attempts > 0))
  })
}

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
