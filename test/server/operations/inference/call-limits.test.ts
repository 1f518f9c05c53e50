/** Calls under way and tokens a minute, from the request to its end. D29. */
import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import type { CallLimits } from '../../../../src/schemas/limits/model-calls.ts'
import { ADMITTED_OUTPUT_TOKENS_MAX } from '../../../../src/schemas/limits/rate-limits.ts'
import {
  openChatProvider,
  type ChatProviderFront,
  type ChatProviderOptions,
} from '../../../support/inference/chat-provider-front.ts'
import { answersChat, PROMPT_TOKENS, refusesChat, silentChat } from '../../../support/inference/fake-chat.ts'
import { limitsOf, openCountedCalls, type CountedCalls } from '../../../support/limits/counted-calls.ts'
import { until } from '../../../support/wait.ts'

const hello = { model: 'acme/one', messages: [{ role: 'user', content: 'Hello there' }], max_tokens: 50 }
/** Tokens of the answers of the fake provider, with the prompt. */
const USED = PROMPT_TOKENS + 4
/** Tokens that the prompt has as far as is known before the first call. */
const PROMPT_BYTES = JSON.stringify(hello).length
const ESTIMATE = Math.ceil(PROMPT_BYTES / 4) + hello.max_tokens

interface Rig extends ChatProviderFront {
  readonly counted: CountedCalls
}

async function open(
  t: Parameters<typeof openChatProvider>[0],
  key: Partial<CallLimits>,
  more: ChatProviderOptions & { readonly workspace?: Partial<CallLimits> } = {},
): Promise<Rig> {
  const { calls, counted } = openCountedCalls(t)
  const keys = { callLimits: limitsOf(key, more.workspace) }
  return { ...(await openChatProvider(t, { ...more, modelCalls: calls, keys })), counted }
}

t.test(
  'chat.create 429: a call above `max_parallel` is refused at once, and accepted after another call ends',
  async (t) => {
    const { post, first, counted } = await open(t, { max_parallel: 1 })
    first.script(silentChat)
    const leaving = new AbortController()
    const held = post({ ...hello, stream: true }, {}, leaving.signal)
    await first.arrived(0)
    for (const stream of [true, false]) {
      const refused = await post({ ...hello, stream })
      t.equal(refused.status, 429)
      t.equal(refused.headers.get('retry-after'), '1')
      t.match(await refused.json(), {
        error: {
          code: 429,
          type: 'rate_limited',
          metadata: { limit_kind: 'parallel', limit_source: 'key_max_parallel', limit: 1 },
        },
      })
    }
    t.equal(first.calls.length, 1)
    leaving.abort()
    await t.rejects(held)
    await until(() => counted.held.size === 0)
    t.equal((await post(hello)).status, 200)
  },
)

t.test('a call releases its slot and its unused tokens, however it ends', async (t) => {
  const limits = { max_parallel: 1, rate_limit_tpm: 10_000 }
  const { post, first, counted } = await open(t, {}, { workspace: limits })
  const ask = async (stream: boolean): Promise<number> => {
    const response = await post({ ...hello, stream })
    await response.text().catch(() => undefined)
    await until(() => counted.held.size === 0)
    return response.status
  }
  t.same([await ask(true), await ask(false)], [200, 200])
  t.equal(counted.tokens, 2 * USED, 'what the provider told')
  first.script(refusesChat(500))
  t.equal(await ask(true), 502)
  first.script(refusesChat(400))
  t.equal(await ask(false), 400)
  t.equal(counted.tokens, 2 * USED)
  first.script(answersChat({}, { cutAt: 600, ending: 'rst' }))
  t.equal(await ask(true), 200)
  t.ok(counted.tokens > 2 * USED, 'what was delivered of an answer that broke off')
})

t.test('a call that is refused for lack of money uses no slot and no tokens', async (t) => {
  const spend = { hold: () => fail('credit_exhausted') }
  const { post, counted } = await open(t, { max_parallel: 1, rate_limit_tpm: 10_000 }, { spend })
  for (let nth = 0; nth < 2; nth += 1) t.equal((await post(hello)).status, 402)
  t.same([counted.held.size, counted.tokens], [0, 0])
})

t.test('a caller who disconnects while the call waits for admission frees the slot', async (t) => {
  const { post, counted } = await open(t, { max_parallel: 1 })
  let letIn = (): void => undefined
  counted.gate = new Promise((go) => (letIn = go))
  const leaving = new AbortController()
  const gone = post({ ...hello, stream: true }, {}, leaving.signal)
  await until(() => counted.asked === 1)
  leaving.abort()
  await t.rejects(gone)
  letIn()
  await until(() => counted.ended === 1)
  t.equal(counted.held.size, 0)
  t.equal((await post(hello)).status, 200)
})

t.test(
  'chat.create 429: names the owner of the exhausted limit and the wait; replies report the remaining tokens',
  async (t) => {
    const { post, counted } = await open(t, { rate_limit_tpm: 1_000 })
    for (const stream of [true, false]) {
      counted.tokens = 0
      const response = await post({ ...hello, stream })
      t.equal(response.headers.get('ratelimit-policy'), '"tokens";q=1000;w=60')
      t.match(response.headers.get('ratelimit'), /^"tokens";r=9\d\d;t=9$/)
      t.equal(response.headers.get('x-ratelimit-limit-tokens'), '1000')
      await response.text()
    }
    counted.tokens = 990
    const refused = await post(hello)
    t.equal(refused.status, 429)
    t.equal(refused.headers.get('retry-after'), '7')
    t.equal(refused.headers.get('ratelimit'), '"tokens";r=10;t=7')
    const { error } = (await refused.json()) as {
      error: { message: string; metadata: Record<string, unknown> }
    }
    t.match(error.message, /^The key is over its limit of 1000 tokens a minute; try again in 7 s\./)
    t.match(error.metadata, { limit_kind: 'tokens', limit_source: 'key_rate_limit_tpm' })
  },
)

t.test('chat.create 400: a call above the token limit gets its estimate and the limit', async (t) => {
  const { post, first, counted } = await open(t, { rate_limit_tpm: ESTIMATE - 1 })
  const refused = await post(hello)
  t.equal(refused.status, 400)
  t.match(await refused.json(), {
    error: { type: 'tokens_over_limit', metadata: { estimated_tokens: ESTIMATE, limit: ESTIMATE - 1 } },
  })
  t.equal(refused.headers.get('retry-after'), null)
  t.equal(first.calls.length, 0)
  t.equal(counted.tokens, 0)
  const response = await post({ ...hello, max_tokens: 40 })
  t.equal(response.status, 200)
})

t.test('an estimate includes the requested output for each answer, up to a maximum', async (t) => {
  const { post } = await open(t, { rate_limit_tpm: 1 })
  const estimated = async (more: object): Promise<number> => {
    const { error } = (await (await post({ ...hello, ...more })).json()) as {
      error: { metadata: { estimated_tokens: number } }
    }
    return error.metadata.estimated_tokens
  }
  const bytes = (more: object): number => Math.ceil(JSON.stringify({ ...hello, ...more }).length / 4)
  for (const [more, output] of [
    [{ max_tokens: 7 }, 7],
    [{ max_tokens: 7, n: 3 }, 21],
    [{ max_tokens: 100_000 }, ADMITTED_OUTPUT_TOKENS_MAX],
    [{ max_tokens: null }, ADMITTED_OUTPUT_TOKENS_MAX],
    [{ model: 'acme/bounded', max_tokens: null }, 100],
  ] as const)
    t.equal(await estimated(more), bytes(more) + output, JSON.stringify(more))
})

t.test('without call limits no admission is requested', async (t) => {
  const { post } = await openChatProvider(t, {
    keys: { callLimits: limitsOf({ default_max_output_tokens: 20 }) },
  })
  t.equal((await post(hello)).status, 200)
})
