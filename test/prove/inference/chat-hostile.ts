/** Callers and providers that mean harm, and texts that must be kept nowhere. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { answersChat, refusesChat } from '../../support/inference/fake-chat.ts'
import { answersMessages, refusesMessages } from '../../support/inference/fake-messages.ts'
import { answersResponses } from '../../support/inference/fake-responses.ts'
import type { StreamPlan } from '../../support/inference/fake-stream.ts'
import {
  startFakeProvider,
  type FakeAnswer,
  type FakeProvider,
} from '../../support/inference/fake-provider.ts'
import { firstKeys, until } from '../../support/nodes/node.ts'
import type { Program, Proof } from '../proof.ts'
import { scanAll } from '../vault/canary.ts'
import { newMarker, type Marker } from '../vault/canary/needles.ts'
import { startCanaryStand, type CanaryStand } from '../vault/canary/stand.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MODEL = 'fake/model-1'
const MIB = 1_024 * 1_024
/** Milliseconds until spans, records and log lines have left their buffers. */
const SETTLING_MS = 6_000
/** Bytes of a stream after its first words, and far before its end. */
const BROKEN_AT = 6_000
/** Bytes of a provider that are read at most before an answer has begun, with what the sockets hold. */
const ENDLESS_BYTES_MAX = 256 * MIB

interface Stage {
  readonly proof: Proof
  readonly stand: CanaryStand
  readonly provider: FakeProvider
  readonly marker: Marker
}

/** Calls of one form whose texts are canaries. */
interface Form {
  readonly path: string
  request(text: string, more?: object): object
  answers(words: readonly string[], plan?: StreamPlan): FakeAnswer
  /** A refusal that repeats what it was sent. */
  refuses(text: string): FakeAnswer
}

const FORMS: readonly Form[] = [
  {
    path: '/chat/completions',
    request: (text, more) => ({
      model: MODEL,
      messages: [
        { role: 'system', content: text },
        { role: 'user', content: [{ type: 'text', text }] },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: text, parameters: {} } }],
      ...more,
    }),
    answers: (words, plan) => answersChat({ words }, plan),
    refuses: (text) => refusesChat(400, { message: `Wrong: ${text}`, code: text, param: text }),
  },
  {
    path: '/responses',
    request: (text, more) => ({
      model: MODEL,
      instructions: text,
      input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
      ...more,
    }),
    answers: (words, plan) => answersResponses({ words }, plan),
    refuses: (text) => refusesChat(400, { message: `Wrong: ${text}`, code: text, param: text }),
  },
  {
    path: '/messages',
    request: (text, more) => ({
      model: MODEL,
      max_tokens: 64,
      system: [{ type: 'text', text }],
      messages: [{ role: 'user', content: text }],
      ...more,
    }),
    answers: (words, plan) => answersMessages({ words }, plan),
    refuses: (text) => refusesMessages(400, { message: `Wrong: ${text}`, type: text }),
  },
]

export const program: Program = {
  text: 'callers and providers that mean harm get their status, and prompts and answers are found nowhere',
  async run(proof) {
    const marker = newMarker()
    const provider = await startFakeProvider(answersChat())
    proof.after(() => provider.close())
    const folder = temporaryFolder(proof, 'hostile')
    const catalogue = join(folder, 'catalog.json')
    await writeFile(catalogue, JSON.stringify(catalogueOf(provider.origin)))
    const stand = await startCanaryStand(proof, marker, { SLUICE_CATALOG: catalogue })
    const stage: Stage = { proof, stand, provider, marker }
    await strangers(stage)
    await endless(stage)
    for (const form of FORMS) await canaries(stage, form)
    await after(SETTLING_MS)
    await until('a span has come', () => stand.sink.bodies.length > 0)
    // Answers to the caller of the text are the caller's own.
    stand.replies.length = 0
    const { hits, bytes, places } = await scanAll(stand)
    const found = [...new Set(hits.map(({ place, form }) => `${place} (${form})`))].slice(0, 5)
    proof.check(
      'no prompt and no answer is in a log, metric, span, row, file or process',
      hits.length === 0,
      `${hits.length} of ${places} places, ${Math.round(bytes / MIB)} MiB looked at: ${found.join('; ')}`,
    )
  },
}

/** What belongs to another workspace, and headers that smuggle. */
async function strangers({ proof, stand, provider, marker }: Stage): Promise<void> {
  const { call } = stand
  const made = await call('POST', '/workspaces', {
    key: 'management',
    body: { name: 'Other', slug: 'other' },
  })
  const workspace = String((made.body['data'] as { id?: unknown } | undefined)?.id)
  const key = await call('POST', '/keys', {
    key: 'management',
    body: { name: 'other', workspace_id: workspace },
  })
  const other = { authorization: `Bearer ${String(key.body['key'])}` }
  const [form] = FORMS
  if (form === undefined) throw new Error('no form')
  const first = await call('POST', form.path, { body: form.request('Hello') })
  const id = String(first.body['id'])
  const own = async (): Promise<number> => (await call('GET', `/generation?id=${id}`)).status
  for (let round = 0; round < 600 && (await own()) !== 200; round++) await after(100)
  expect(proof, 'the record of a call is its workspace’s', [
    [200, await own()],
    [404, (await call('GET', `/generation?id=${id}`, { headers: other })).status],
  ])
  const preset = await call('POST', '/presets/mine/chat/completions', {
    key: 'management',
    body: { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] },
  })
  const named = { body: form.request('Hello', { model: '@preset/mine' }) }
  expect(proof, 'a preset is its workspace’s', [
    [200, preset.status],
    [200, (await call('POST', form.path, named)).status],
    [404, (await call('POST', form.path, { ...named, headers: other })).status],
  ])
  const apart = { authorization: '', 'x-api-key': String(firstKeys(stand.node.dataDir).inference_key) }
  expect(proof, '`x-api-key` is a key of messages alone', [
    [401, (await call('POST', form.path, { body: form.request('Hello'), headers: apart })).status],
    [401, (await call('GET', '/generation?id=gen_1', { headers: apart })).status],
  ])
  const messages = FORMS[2]
  if (messages === undefined) throw new Error('no messages')
  const before = provider.calls.length
  const smuggled: [number, number][] = []
  for (const beta of ['a\tx-api-key: b', 'a: b', `a,${'b'.repeat(4_000)}`, marker.value()]) {
    const headers = { 'anthropic-beta': beta }
    smuggled.push([
      400,
      (await call('POST', messages.path, { body: messages.request('Hello'), headers })).status,
    ])
  }
  expect(proof, 'a header that is no list of words goes nowhere', smuggled)
  proof.check(
    'the provider was not asked',
    provider.calls.length === before,
    `${provider.calls.length - before} calls`,
  )
}

/** Providers that send for ever. */
async function endless({ proof, stand, provider }: Stage): Promise<void> {
  const [form] = FORMS
  if (form === undefined) throw new Error('no form')
  const ask = async (answer: FakeAnswer): Promise<number> => {
    provider.script(answer)
    return (await stand.call('POST', form.path, { body: form.request('Hello', { stream: true }) })).status
  }
  const fields = 'id: 1\nretry: 5\nevent: x\n:\n'.repeat(2_000)
  const events =
    'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}\n\n'
  expect(proof, '8,000 fields without data are no answer, and harm none', [
    [200, await ask(streamOf([fields, '\n', events, 'data: [DONE]\n\n']))],
  ])
  const large = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(17 * MIB)}"}}]}\n\n`
  expect(proof, 'an event of 17 MiB is too large', [[502, await ask(streamOf([large]))]])
  let sent = 0
  const comments: FakeAnswer = async (call, reply) => {
    await reply.head(200, { 'content-type': 'text/event-stream' })
    const piece = ': nothing\n\n'.repeat(6_000)
    while (!call.isClosed && sent < 10_000 * MIB) {
      await reply.write(piece)
      sent += piece.length
    }
  }
  expect(proof, 'comments without end are no answer', [[502, await ask(comments)]])
  proof.check(
    'a provider without an output is not read for ever',
    sent < ENDLESS_BYTES_MAX,
    `${Math.round(sent / MIB)} MiB of 10,000`,
  )
}

/** Texts in every place of a call: asked, answered, refused, broken, wrong. */
async function canaries({ proof, stand, provider, marker }: Stage, form: Form): Promise<void> {
  const { call } = stand
  const statuses: [number, number][] = []
  const ask = async (expected: number, body: object | string): Promise<void> => {
    const sent = typeof body === 'string' ? { text: body } : { body }
    statuses.push([expected, (await call('POST', form.path, sent)).status])
  }
  const words = (): readonly string[] => [marker.value(), ' ', marker.value()]
  for (const stream of [false, true]) {
    provider.script(form.answers(words()))
    await ask(200, form.request(marker.value(), { stream }))
    const quoted = marker.value()
    provider.script(form.refuses(quoted))
    await ask(400, form.request(quoted, { stream }))
  }
  // After the head the stream reports the error.
  provider.script(form.answers(Array.from({ length: 60 }, words).flat(), { cutAt: BROKEN_AT, ending: 'rst' }))
  // The body has no end, and the client raises: with `connection: close` it would take what came for all.
  const headers = { connection: 'keep-alive' }
  const cut = call('POST', form.path, { body: form.request(marker.value(), { stream: true }), headers })
  statuses.push([0, await cut.then(({ status }) => status).catch(() => 0)])
  provider.script(streamOf([`data: ${marker.value()}\n\n`]))
  await ask(502, form.request(marker.value(), { stream: true }))
  provider.script(
    streamOf([`event: error\ndata: {"error":{"message":${JSON.stringify(marker.value())}}}\n\n`]),
  )
  await ask(502, form.request(marker.value(), { stream: true }))
  await ask(400, JSON.stringify(form.request(marker.value(), { messages: marker.value(), input: 7 })))
  await ask(400, JSON.stringify(form.request(marker.value())).slice(0, -1))
  provider.script(form.answers(words()))
  await ask(200, form.request(`${marker.value()}${'x'.repeat(MIB)}`))
  expect(proof, `${form.path}: every case its status`, statuses)
}

function streamOf(pieces: readonly string[]): FakeAnswer {
  return async (_call, reply) => {
    await reply.head(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) await reply.write(piece)
    await reply.end()
  }
}

function expect(proof: Proof, text: string, pairs: readonly (readonly [number, number])[]): void {
  const isMet = pairs.every(([expected, found]) => expected === found)
  proof.check(
    text,
    isMet,
    pairs.map(([expected, found]) => (expected === found ? found : `${found} for ${expected}`)).join(' '),
  )
}

function catalogueOf(origin: string): object {
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  const endpoint = {
    provider: 'fake',
    upstream_model: 'm',
    speaks: ['chat', 'responses', 'messages'],
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }
  return {
    providers: [{ slug: 'fake', name: 'Fake', protocol: 'openai', base_url: `${origin}/v1` }],
    models: [{ id: MODEL, name: 'Model', architecture, context_length: 128_000, endpoints: [endpoint] }],
  }
}
