/** Records of calls: what each call leaves, who may read it, and what it never holds. */
import t, { type Test } from 'tap'
import { Compile } from 'typebox/compile'
import { GenerationAnswer, type GenerationRecord } from '../../../../src/schemas/inference/generations.ts'
import { openGenerations } from '../../../../src/server/store/inference/generations.ts'
import { FREE_SPEND } from '../../../support/money/free-spend.ts'
import { INTERN_KEY, KEY, LIMITED_KEY, MANAGEMENT_KEY } from '../../../support/front.ts'
import {
  openChatProvider,
  PROVIDER_KEY,
  type ChatProviderFront,
  type ChatProviderOptions,
} from '../../../support/inference/chat-provider-front.ts'
import {
  answersChat,
  chatError,
  chatEvents,
  PROMPT_TOKENS,
  refusesChat,
} from '../../../support/inference/fake-chat.ts'
import { answersResponses } from '../../../support/inference/fake-responses.ts'
import { Steps, streams } from '../../../support/inference/fake-stream.ts'
import {
  generation,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  OTHER_WORKSPACE,
  WORKSPACE,
} from '../../../support/inference/generations.ts'
import { RESPONSE } from '../../../support/inference/responses-streams.ts'
import { keptLog } from '../../../support/log.ts'
import { present } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { until } from '../../../support/wait.ts'
import { openRouterClient } from '../../../support/wire/foreign-clients.ts'
import { GENERATION_ID_CHARS_MAX } from '../../../../src/schemas/inference/inference-limits.ts'

const isRecord = Compile(GenerationAnswer)
const hello = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }] }
const stream = { ...hello, stream: true }

interface Answered {
  readonly status: number
  readonly body: { readonly data: GenerationRecord; readonly error?: { readonly metadata: unknown } }
}

interface Opened extends ChatProviderFront {
  readonly generations: ReturnType<typeof openGenerations>
  read(query: string, key?: string): Promise<Answered>
  /** The record of a call, when it is there. */
  recordOf(id: string): Promise<GenerationRecord>
}

async function open(t: Test, options: ChatProviderOptions = {}): Promise<Opened> {
  const store = await openTestStore(t)
  const generations = openGenerations({ store, log: keptLog(), count: () => undefined })
  t.teardown(() => generations.close())
  const keys = { organizationId: ORGANIZATION, workspaceId: WORKSPACE, defaultWorkspaceId: OTHER_WORKSPACE }
  const front = await openChatProvider(t, { keys, generations, ...options })
  const read = async (query: string, key = KEY): Promise<Answered> => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${front.url}/api/v1/generation${query}`, { headers })
    return { status: response.status, body: (await response.json()) as Answered['body'] }
  }
  return {
    ...front,
    generations,
    read,
    async recordOf(id) {
      await until('the record is there', async () => (await read(`?id=${id}`)).status === 200)
      const { body } = await read(`?id=${id}`)
      t.ok(isRecord.Check(body), JSON.stringify([...isRecord.Errors(body)]))
      return body.data
    },
  }
}

/** @returns the id of the answer */
async function drained(response: Response): Promise<string> {
  await response.text().catch(() => '')
  return present(response.headers.get('x-generation-id'))
}

const USED = { prompt_tokens: 20, completion_tokens: 7 }

t.test('the provider id also finds the record of a response, with the finish reason of chat', async (t) => {
  const { post, first, recordOf } = await open(t, {
    path: '/responses',
    providers: { speaks: ['responses'] },
  })
  first.usually(answersResponses())
  for (const isStream of [true, false]) {
    const response = await post({ model: 'acme/one', input: 'Hello', stream: isStream })
    await response.text()
    const record = await recordOf(present(response.headers.get('x-generation-id')))
    t.match(record, {
      upstream_id: RESPONSE.id,
      streamed: isStream,
      finish_reason: 'stop',
      native_finish_reason: 'completed',
      native_tokens_prompt: PROMPT_TOKENS,
      native_tokens_completion: 4,
    })
    t.same(await recordOf(RESPONSE.id), record)
  }
})

t.test(
  'generations.read 200: returns a streamed call by its own id and by the id of the provider',
  async (t) => {
    const { post, recordOf, read } = await open(t)
    const before = Date.now()
    const response = await post({ ...stream, session_id: 'a\0b', transforms: ['x'] })
    const id = await drained(response)
    const record = await recordOf(id)
    const cost = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 1e9
    t.match(record, {
      id,
      upstream_id: 'chatcmpl-fake0001',
      model: 'acme/chat',
      provider_name: 'first',
      streamed: true,
      cancelled: false,
      finish_reason: 'stop',
      native_finish_reason: 'stop',
      total_cost: cost,
      usage: cost,
      is_byok: false,
      upstream_inference_cost: null,
      native_tokens_prompt: PROMPT_TOKENS,
      native_tokens_completion: 4,
      native_tokens_reasoning: 0,
      native_tokens_cached: 0,
      workspace_id: WORKSPACE,
      request_id: response.headers.get('x-request-id'),
      session_id: 'a\u{fffd}b',
      x: { stalled_ms: 0, is_estimated: false, attempts: 1, dropped: ['transforms'] },
    })
    const createdAt = Date.parse(record.created_at)
    t.ok(createdAt >= before && createdAt <= Date.now())
    const { ttft_ms: firstMs } = record.x
    t.ok(firstMs !== null && firstMs <= (record.latency ?? -1))
    t.same((await read('?id=chatcmpl-fake0001')).body.data, record)
  },
)

t.test('returns a whole answer, and an answer of the second endpoint', async (t) => {
  const { post, first, recordOf } = await open(t)
  first.script(refusesChat(500))
  const record = await recordOf(await drained(await post(hello)))
  t.match(record, {
    provider_name: 'second',
    streamed: false,
    cancelled: false,
    finish_reason: 'stop',
    native_tokens_completion: 4,
    x: { ttft_ms: null, attempts: 2, dropped: [] },
  })
  first.script(refusesChat(500))
  const fallback = { ...hello, model: 'acme/one', models: ['sluice/echo-1'] }
  t.match(await recordOf(await drained(await post(fallback))), {
    model: 'sluice/echo-1',
    x: { attempts: 2 },
  })
})

t.test('a record includes the searches that the provider reported', async (t) => {
  const { post, first, recordOf } = await open(t)
  first.usually(answersChat({ usage: { ...USED, server_tool_use: { web_search_requests: 3 } } }))
  for (const body of [hello, stream]) t.equal((await recordOf(await drained(await post(body)))).x.searches, 3)
  first.usually(answersChat({ usage: USED }))
  t.equal((await recordOf(await drained(await post(hello)))).x.searches, 0)
})

t.test('an answer of the built-in model has a record too, with its own counts', async (t) => {
  const { post, recordOf } = await open(t)
  for (const isStream of [true, false]) {
    const body = { ...hello, model: 'sluice/echo-1', max_tokens: 1, stream: isStream }
    t.match(await recordOf(await drained(await post(body))), {
      model: 'sluice/echo-1',
      upstream_id: null,
      streamed: isStream,
      finish_reason: 'length',
      total_cost: 0,
      native_tokens_prompt: 2,
      native_tokens_completion: 1,
      x: { is_estimated: false },
    })
  }
})

t.test('a disconnected call is recorded as `cancelled` with figures and no finish reason. D27', async (t) => {
  for (const onLeave of ['cancel', 'drain']) {
    const { post, first, recordOf } = await open(t, { firstProvider: { on_leave: onLeave } })
    const steps = new Steps()
    first.script(answersChat({}, { steps }))
    const leaving = new AbortController()
    const pending = post(stream, {}, leaving.signal)
    const call = await first.arrived(0)
    steps.allow(3)
    const response = await pending
    await present(response.body).getReader().read()
    leaving.abort()
    if (onLeave === 'cancel') await call.closed
    else steps.allow(100)
    const record = await recordOf(present(response.headers.get('x-generation-id')))
    t.match(record, { cancelled: true, finish_reason: null, provider_name: 'first' }, onLeave)
    t.ok((record.native_tokens_completion ?? 0) > 0)
    t.equal(record.x.is_estimated, onLeave === 'cancel')
  }
})

t.test('a stream that breaks off has the finish reason `error`, also before any output. D27', async (t) => {
  const { post, first, second, recordOf } = await open(t, { streamHoldMs: 0 })
  const breaks = streams((call) => [...chatEvents(call).slice(0, 3), chatError()])
  first.script(breaks)
  t.match(await recordOf(await drained(await post(stream))), {
    cancelled: false,
    finish_reason: 'error',
    native_finish_reason: 'error',
    provider_name: 'first',
    x: { is_estimated: true },
  })
  for (const provider of [first, second]) provider.usually(refusesChat(500))
  t.match(await recordOf(await drained(await post(stream))), {
    finish_reason: 'error',
    provider_name: null,
    upstream_id: null,
    total_cost: 0,
    native_tokens_prompt: 0,
    x: { attempts: 2, ttft_ms: null },
  })
})

t.test('a call that fails with an error status leaves no record', async (t) => {
  const { post, first, second, generations } = await open(t)
  for (const provider of [first, second]) provider.usually(refusesChat(500))
  const kept: string[] = []
  const { keep } = generations
  generations.keep = (one) => (kept.push(one.id), keep.call(generations, one))
  for (const body of [hello, stream]) t.equal((await post(body)).status, 502)
  t.equal((await post({ ...hello, model: 'none/such' })).status, 404)
  t.same(kept, [])
})

t.test('generations.read 404: foreign workspaces and organizations, and an unknown id', async (t) => {
  const { generations, read } = await open(t)
  const own = generation({ upstreamId: 'upstream-1' })
  const other = generation({ workspaceId: OTHER_WORKSPACE, upstreamId: 'upstream-2' })
  const foreign = generation({ organizationId: OTHER_ORGANIZATION, upstreamId: 'upstream-3' })
  for (const one of [own, other, foreign]) generations.keep(one)
  await generations.close()
  const statuses = async (key: string): Promise<readonly number[]> => {
    const ids = [own, other, foreign].flatMap(({ id, upstreamId }) => [id, present(upstreamId)])
    return Promise.all(ids.map(async (id) => (await read(`?id=${id}`, key)).status))
  }
  for (const key of [KEY, INTERN_KEY]) t.same(await statuses(key), [200, 200, 404, 404, 404, 404])
  t.same(await statuses(MANAGEMENT_KEY), [200, 200, 200, 200, 404, 404])
  t.match(await read(`?id=${foreign.id}`), {
    status: 404,
    body: { error: { metadata: { error_type: 'generation_unknown' } } },
  })
})

t.test('generations.read 400: a query without an id, or with an invalid one', (t) => refusesOdd(t, ''))
t.test('generations.content 400: a query without an id, or with an invalid one', (t) =>
  refusesOdd(t, '/content'),
)

async function refusesOdd(t: Test, path: string): Promise<void> {
  const { read } = await open(t)
  const most = 'a'.repeat(GENERATION_ID_CHARS_MAX)
  for (const query of ['', '?id=', `?id=${most}a`, '?id=a&id=b', '?id=%00', '?id=a%00'])
    t.equal((await read(path + query)).status, 400, query)
  for (const odd of [most, '%f0%9f%98%80', '%27%3B--', '%25'])
    t.equal((await read(`${path}?id=${odd}`)).status, 404, odd)
}

t.test('generations.content 404: prompts and answers are not kept, whatever the id', async (t) => {
  const { post, recordOf, read } = await open(t)
  const { id } = await recordOf(await drained(await post(hello)))
  for (const one of [id, 'gen_0'])
    t.match(await read(`/content?id=${one}`), {
      status: 404,
      body: { error: { metadata: { error_type: 'content_not_kept' } } },
    })
})

t.test('reads count towards the rate limit of the key', async (t) => {
  const { read } = await open(t)
  for (const path of ['', '/content']) t.equal((await read(`${path}?id=x`, LIMITED_KEY)).status, 429)
})

t.test(
  'a row has no text of the prompt, answer or tools, no key, and no text that a provider hides in names. D37',
  async (t) => {
    const { post, first, recordOf, generations } = await open(t)
    const rows: unknown[] = []
    const { keep } = generations
    generations.keep = (one) => (rows.push(one), keep.call(generations, one))
    const canary = 'canary 93ae77'
    first.usually(
      answersChat({ words: [canary], finish: canary, more: { id: canary, service_tier: canary } }),
    )
    const tool = { type: 'function', function: { name: 'canary_93ae77', parameters: { title: canary } } }
    const body = {
      model: 'acme/one',
      messages: [{ role: 'user', content: canary, name: 'canary_93ae77' }],
      ...{ tools: [tool], user: canary, metadata: { a: canary }, stop: [canary], [canary]: canary },
    }
    for (const isStream of [true, false]) {
      const record = await recordOf(await drained(await post({ ...body, stream: isStream })))
      t.match(record, { upstream_id: null, finish_reason: null, native_tokens_completion: 1 })
      t.notMatch(JSON.stringify(record), /canary/)
    }
    t.equal(rows.length, 2)
    t.notMatch(JSON.stringify(rows), new RegExp(`canary|${KEY}|${PROVIDER_KEY}`))
  },
)

t.test("OpenRouter's client accepts and validates each kind of record", async (t) => {
  const { url, post, first, second, recordOf } = await open(t, { spend: FREE_SPEND, streamHoldMs: 0 })
  const { generations } = await openRouterClient({ baseUrl: `${url}/api/v1`, apiKey: KEY })
  const ids = [await drained(await post(hello)), await drained(await post(stream))]
  for (const provider of [first, second]) provider.usually(refusesChat(500))
  ids.push(await drained(await post(stream)))
  for (const id of ids) {
    const { native_tokens_prompt: prompt, finish_reason: reason } = await recordOf(id)
    const { data } = await generations.getGeneration({ id })
    t.match(data, { id, model: 'acme/chat', finishReason: reason, nativeTokensPrompt: prompt })
  }
})
