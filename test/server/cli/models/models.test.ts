import t, { type Test } from 'tap'
import { catalogueFile } from '../../../support/models/catalogue.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { runToEnd } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

/** Not that of a node which was started in this clone. */
const SLUICE_DATA = temporaryFolder(t, 'models')

async function sluice(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, ...output } = await runVerb({ SLUICE_DATA, ...env }, args)
  return { status: code, ...output }
}

t.test('models list prints a line for each model, and the API form of the models as JSON', async (t) => {
  const plain = await sluice(['models', 'list'])
  t.match(plain, {
    status: 0,
    stdout:
      /^openai\/text-embedding-3-small +text->embeddings +8192 +\$0\.00000002 +openai \(OPENAI_API_KEY is not set\)$/m,
  })
  t.match(await sluice(['models', 'list'], { OPENAI_API_KEY: 'k' }), { stdout: /0\.00000002 +openai$/m })
  t.match(await sluice(['models', 'list'], { OPENAI_API_KEY: 'sk-sluice-v1-x' }), {
    stdout: /0\.00000002 +openai \(OPENAI_API_KEY is not set\)$/m,
  })
  const { data, providers } = JSON.parse((await sluice(['models', 'list', '--json'])).stdout) as {
    data: { id: string }[]
    providers: object[]
  }
  t.match(providers, [
    { slug: 'local', is_configured: true },
    { slug: 'openai', api_key_env: 'OPENAI_API_KEY', is_configured: false },
  ])
  const lines = plain.stdout.trimEnd().split('\n')
  t.equal(data.length, lines.length - 2, 'between a heading and a remark')
  t.match(plain.stdout, /^google\/gemini-2\.5-pro .* \$0\.00000125\* +google/m)
  t.match(lines.at(-1), /^\* price depends on prompt length, hour or tier: `.*models explain MODEL`$/)
  t.match(data[0], { id: 'sluice/lexical-1', pricing: { prompt: '0' } })
})

t.test(
  'models list shows the price of a second of video, and as JSON all parameters of a video model',
  async (t) => {
    const { stdout } = await sluice(['models', 'list'])
    t.match(stdout, /^sluice\/clip-1 +text\+image->video +- +free +local$/m)
    t.match(stdout, /^google\/veo-3\.1 +text\+image->video +- +\$0\.4-0\.6\/s +google/m)
    t.match(stdout, /^openai\/sora-2 +text\+image->video +- +- +-$/m)
    const { videos } = JSON.parse((await sluice(['models', 'list', '--json'])).stdout) as { videos: object[] }
    t.match(videos[0], {
      id: 'sluice/clip-1',
      supported_resolutions: ['360p', '480p', '720p'],
      pricing_skus: null,
    })
  },
)

t.test('models list adds the price per video to the price per second', async (t) => {
  const model = (id: string, skus: object) => ({
    id,
    name: id,
    architecture: { output_modalities: ['video'] },
    video: { pricing_skus: skus },
    endpoints: [{ provider: 'here', upstream_model: id }],
  })
  const models = [
    model('mine/both', { duration_seconds: '0.1', per_video: '0.25' }),
    model('mine/whole', { per_video: '2' }),
  ]
  const file = catalogueFile(t, { replace: true, providers: [{ slug: 'here', protocol: 'local' }], models })
  const { stdout } = await sluice(['models', 'list'], { SLUICE_CATALOG: file })
  t.match(stdout, /^mine\/both .* \$0\.1\/s \+ \$0\.25\/video +here$/m)
  t.match(stdout, /^mine\/whole .* \$2\/video +here$/m)
})

t.test('models list does not call a model free if it charges for output only', async (t) => {
  const endpoints = [
    { provider: 'here', upstream_model: 'm', pricing: { prompt: '0', completion: '0.00001' } },
  ]
  const file = catalogueFile(t, {
    replace: true,
    providers: [{ slug: 'here', protocol: 'local' }],
    models: [{ id: 'mine/half', name: 'Half', endpoints }],
  })
  const { stdout } = await sluice(['models', 'list'], { SLUICE_CATALOG: file })
  t.match(stdout, /^mine\/half .* \$0 +here$/m)
})

t.test('models list distinguishes a model without a price from a free one', async (t) => {
  const model = (id: string, more: object) => ({
    id,
    name: id,
    architecture: { output_modalities: ['embeddings'] },
    endpoints: [{ provider: 'here', upstream_model: id, ...more }],
  })
  const models = [model('mine/open', {}), model('mine/free', { free: true })]
  const file = catalogueFile(t, { replace: true, providers: [{ slug: 'here', protocol: 'local' }], models })
  const { stdout } = await sluice(['models', 'list'], { SLUICE_CATALOG: file })
  t.match(stdout, /^mine\/open .* no price +here$/m)
  t.match(stdout, /^mine\/free .* free +here$/m)
})

t.test('models list shows the models of SLUICE_CATALOG', async (t) => {
  const file = catalogueFile(t, { replace: true, models: [{ id: 'mine/new', name: 'New' }] })
  t.match(await sluice(['models', 'list'], { SLUICE_CATALOG: file }), {
    status: 0,
    stdout: /^mine\/new +text->text +- +- +-$/m,
  })
})

t.test('models list fails when SLUICE_CATALOG has mistakes, and lists them', async (t) => {
  const file = catalogueFile(t, { models: [{ id: 'mine/new' }] })
  t.match(await sluice(['models', 'list'], { SLUICE_CATALOG: file }), {
    status: 1,
    stderr: /\/models\/0\/name: is missing/,
  })
})

t.test('catalog check passes a file that extends the shipped catalogue', async (t) => {
  const file = catalogueFile(t, {
    models: [
      { id: 'mine/new', name: 'New', free: true, endpoints: [{ provider: 'openai', upstream_model: 'x' }] },
    ],
  })
  t.match(await sluice(['catalog', 'check', file]), {
    status: 0,
    stdout: /^no errors; with this file, the catalogue has \d+ models/,
  })
  t.match(JSON.parse((await sluice(['catalog', 'check', file, '--json'])).stdout), { ok: true, providers: 7 })
})

t.test('catalog check exits 1 and lists every mistake with its path', async (t) => {
  const file = catalogueFile(t, {
    models: [{ id: 'mine/new', name: 'New', pricing: { prompt: 1 } }, { id: 'x' }],
  })
  t.match(await sluice(['catalog', 'check', file]), {
    status: 1,
    stdout: /\/models\/0\/pricing\/prompt: .*\n.*\/models\/1\/id: .*\n.*\/models\/1\/name: is missing/,
  })
  t.match(await sluice(['catalog', 'check', file, '--json']), {
    status: 1,
    stdout: /"ok":false,"problems":\[\{"file":/,
  })
})

t.test('catalog check warns about unknown modalities', async (t) => {
  const file = catalogueFile(t, {
    models: [{ id: 'mine/new', name: 'New', architecture: { output_modalities: ['embedding'] } }],
  })
  t.match(await sluice(['catalog', 'check', file]), {
    status: 0,
    stdout: /^warning: .*\/output_modalities\/0: .* embedding; expected one of .*\nno errors/,
  })
})

t.test('catalog check warns about priced text models without a maximum output', async (t) => {
  const pricing = { prompt: '0.000001', completion: '0.000002' }
  const model = (id: string, more: object = {}, own: object = {}) => ({
    ...{ id, name: id, ...own },
    endpoints: [{ provider: 'openai', upstream_model: id, pricing, ...more }],
  })
  const models = [
    model('mine/open'),
    model('mine/capped', { max_completion_tokens: 100 }),
    model('mine/short', {}, { context_length: 4_096 }),
    { ...model('mine/free'), endpoints: [{ provider: 'openai', upstream_model: 'x', free: true }] },
  ]
  const file = catalogueFile(t, { models })
  t.match(await sluice(['catalog', 'check', file]), {
    status: 0,
    stdout: /^warning: no maximum output for mine\/open: .*`max_completion_tokens`.*\nno errors/,
  })
  t.match(JSON.parse((await sluice(['catalog', 'check', file, '--json'])).stdout), {
    unbounded: ['mine/open'],
  })
})

t.test(
  'catalog check counts the endpoints without a price, names the first, and passes the file',
  async (t) => {
    const model = (id: string, more: object = {}) => ({
      id,
      name: id,
      architecture: { output_modalities: ['embeddings'] },
      endpoints: [{ provider: 'openai', upstream_model: id, ...more }],
    })
    const file = catalogueFile(t, {
      models: [
        ...['a', 'b', 'c', 'd'].map((name) => model(`mine/${name}`)),
        model('mine/free', { free: true }),
      ],
    })
    const { status, stdout } = await sluice(['catalog', 'check', file])
    t.equal(status, 0)
    t.match(
      stdout,
      /^warning: 4 endpoints have no price \(mine\/a at openai, mine\/b at openai, .*and 1 more\).*\nno errors/,
    )
    const { stdout: json } = await sluice(['catalog', 'check', file, '--json'])
    t.match(JSON.parse(json), {
      ok: true,
      unpriced: { length: 4, 0: { model: 'mine/a', provider: 'openai' } },
    })
  },
)

t.test('a node that cannot start because of its catalogue lists the mistakes', async (t) => {
  const file = catalogueFile(t, { models: [{ id: 'mine/new' }] })
  const { code: status, stderr } = await runToEnd({ SLUICE_CATALOG: file, SLUICE_DATA: t.testdir() })
  t.not(status, 0)
  t.match(stderr, `SLUICE_CATALOG: ${file} /models/0/name: is missing; expected a non-empty string`)
})

t.test('doctor names the provider keys that are not set', async (t) => {
  const env = { SLUICE_DATA: t.testdir(), OPENAI_API_KEY: 'k' }
  t.match(
    (await sluice(['doctor'], env)).stdout,
    /^ok +provider_keys +provider keys that are not set: ANTHROPIC_API_KEY, COHERE_API_KEY, GEMINI_API_KEY/m,
  )
})

t.test('catalog check without a file is a usage error', async (t) => {
  t.match(await sluice(['catalog', 'check']), { status: 2, stderr: /missing required argument/ })
})

/** A model with an endpoint of each kind, and one that writes nothing. */
function writers(t: Test): Readonly<Record<string, string>> {
  const writes = (id: string, endpoints: readonly object[]) => ({
    id,
    name: id,
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
    endpoints: endpoints.map((one, nth) => ({
      provider: 'here',
      upstream_model: `m${nth}`,
      free: true,
      ...one,
    })),
  })
  const provider = { slug: 'here', protocol: 'openai', base_url: 'http://127.0.0.1:9/v1' }
  const models = [
    writes('mine/writer', [
      { speaks: ['chat'] },
      { provider: 'strict', speaks: ['chat'] },
      { speaks: ['messages', 'gemini'] },
      { speaks: ['gemini'] },
    ]),
    { id: 'mine/embed', name: 'E', architecture: { output_modalities: ['embeddings'] } },
  ]
  const providers = [provider, { ...provider, slug: 'strict', strict: true }]
  return { SLUICE_CATALOG: catalogueFile(t, { replace: true, providers, models }) }
}

t.test('models explain shows how each endpoint of a model handles each field', async (t) => {
  const env = writers(t)
  const { status, stdout, stderr } = await sluice(['models', 'explain', 'mine/writer', '--from', 'chat'], env)
  t.equal(status, 0, stderr)
  t.match(stdout, /^here\/m0 +chat +unchanged$/m)
  t.match(stdout, /^here\/m2 +messages +translated$/m)
  t.match(stdout, /^field +chat +chat, strict +messages +gemini$/m)
  t.match(stdout, /^seed +unchanged +unchanged +dropped +generationConfig\.seed \(/m)
  t.match(
    stdout,
    /^top_k +unchanged +dropped +top_k \(dropped for Claude 4\.7 and later\) +generationConfig\.topK \(/m,
  )
  t.match(
    stdout,
    /^reasoning +unchanged +reasoning_effort +thinking, output_config\.effort \(.*\) +generationConfig\.thinkingConfig \(not sent to models/m,
  )
  t.match(stdout, /^n +unchanged +unchanged +refused, except 1 +refused, except 1$/m)
  t.notMatch(stdout, /^models/m, 'no endpoint gets what is for Sluice')
})

t.test('models explain gives the same report as JSON', async (t) => {
  const args = ['models', 'explain', 'mine/writer', '--from', 'messages', '--json']
  const { data } = JSON.parse((await sluice(args, writers(t))).stdout) as { data: { endpoints: object[] } }
  t.match(data, { model: 'mine/writer', from: 'messages' })
  t.match(data.endpoints[1], {
    tag: 'strict/m1',
    provider: 'strict',
    protocol: 'chat',
    is_native: false,
    is_strict: true,
  })
  t.match(data.endpoints[2], { protocol: 'messages', is_native: true })
  const { fields } = data.endpoints[3] as { fields: readonly { field: string }[] }
  const rowOf = (name: string) => fields.find(({ field }) => field === name)
  t.same(rowOf('stop_sequences'), {
    ...{ field: 'stop_sequences', class: 'mapped', to: ['generationConfig.stopSequences'] },
    limit: 'more than 5 are refused',
  })
  t.same(rowOf('container'), { field: 'container', class: 'refused' })
  t.same(rowOf('provider'), { field: 'provider', class: 'ours' })
})

t.test('models explain reports that a built-in model has no provider', async (t) => {
  t.match(await sluice(['models', 'explain', 'sluice/echo-1', '--from', 'chat'], {}), {
    status: 1,
    stderr: /`sluice\/echo-1` is built in/,
  })
})

t.test('models explain refuses models without text output, and unknown forms', async (t) => {
  const env = writers(t)
  const explain = (...args: string[]) => sluice(['models', 'explain', ...args], env)
  t.match(await explain('mine/writr', '--from', 'chat'), {
    status: 1,
    stderr:
      /the catalogue has no model `mine\/writr`\. Nearest: `mine\/writer`\. Private endpoints could not/,
  })
  t.match(await explain('mine/embed', '--from', 'chat'), { status: 1, stderr: /is not a text model/ })
  t.match(await explain('mine/writer', '--from', 'gemini'), {
    status: 2,
    stderr: /chat, responses, messages/,
  })
})
