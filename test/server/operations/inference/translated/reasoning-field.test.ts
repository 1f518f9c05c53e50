/** Providers of chat that want the reasoning of a loop of tools back in one member, or refuse that member. */
import t from 'tap'
import {
  answersChat,
  bodyOf,
  refusesChat,
  wantsReasoning,
  wholeJson,
  withoutReasoning,
} from '../../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { streams } from '../../../../support/inference/fake-stream.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'

const STEP = {
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'need f', signature: 'sl1.unknown.x' },
        { type: 'tool_use', id: 'c', name: 'f', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] },
  ],
}
const OWN_STEP = {
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      reasoning: 'need f',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'done' },
  ],
}

t.test('chat.create, messages.create 200: sends reasoning_content if the provider requires it', async (t) => {
  const rig = await rigged(t, 'chat')
  rig.first.usually(wantsReasoning(answersChat()))
  for (const stream of [false, true]) {
    t.equal((await rig.send('messages', { ...STEP, stream })).status, 200)
    t.equal((await rig.send('chat', { ...OWN_STEP, stream })).status, 200)
  }
})

t.test(
  'chat.create, messages.create 200: a refused reasoning_content is left out of the repeated and of later calls',
  async (t) => {
    const rig = await rigged(t, 'chat')
    rig.first.usually(withoutReasoning(answersChat()))
    t.equal((await rig.send('messages', { ...STEP, stream: true })).status, 200)
    t.equal(rig.first.calls.length, 2, 'the attempt is repeated once')
    t.equal((await rig.send('messages', STEP)).status, 200)
    t.equal((await rig.send('chat', OWN_STEP)).status, 200)
    t.equal(rig.first.calls.length, 4, 'the endpoint is known')
    const last = rig.first.calls.at(-1)
    t.match(last && bodyOf(last), {
      messages: [{}, { reasoning: 'need f', reasoning_content: undefined }, {}],
    })
  },
)

for (const what of ['fails', 'is left'] as const)
  t.test(`chat.create 200: a refusal is not remembered when its repetition ${what}`, async (t) => {
    const rig = await rigged(t, 'chat')
    const quoting = refusesChat(400, { message: "Bad request: 'reasoning_content' is unsupported" })
    const gone = new AbortController()
    rig.first.script(quoting, (call, reply) => {
      if (what === 'fails') return refusesChat(500)(call, reply)
      gone.abort()
      return call.closed
    })
    await rig.send('chat', { ...OWN_STEP, stream: true }, gone.signal).catch(() => null)
    rig.first.usually(answersChat())
    await rig.first.arrived(1)
    await rig.rest()
    t.equal((await rig.send('chat', OWN_STEP)).status, 200)
    const last = rig.first.calls.at(-1)
    t.match(last && bodyOf(last), {
      messages: [{}, { reasoning: 'need f', reasoning_content: 'need f' }, {}],
    })
  })

t.test('chat.create 400: a refusal of a wrong value from one caller is not remembered', async (t) => {
  const rig = await rigged(t, 'chat')
  const message = "[{'loc': ('body', 'messages', 1, 'reasoning'), 'msg': 'Input should be a valid string'}]"
  rig.first.script(refusesChat(400, { message }))
  rig.first.usually(answersChat())
  t.equal((await rig.send('chat', OWN_STEP)).status, 400)
  t.equal((await rig.send('chat', OWN_STEP)).status, 200)
  const last = rig.first.calls.at(-1)
  t.match(last && bodyOf(last), {
    messages: [{}, { reasoning: 'need f', reasoning_content: 'need f' }, {}],
  })
})

t.test('chat.create 200: repeats calls that were sent before the first refusal was remembered', async (t) => {
  const rig = await rigged(t, 'chat')
  const refuse = withoutReasoning(answersChat())
  let arrive = (): void => undefined
  const both = new Promise<void>((done) => (arrive = done))
  const inTurn: FakeAnswer = async (call, reply) => {
    if (rig.first.calls.length === 2) arrive()
    await both
    return refuse(call, reply)
  }
  rig.first.script(inTurn, inTurn)
  rig.first.usually(refuse)
  const answers = await Promise.all([rig.send('chat', OWN_STEP), rig.send('chat', OWN_STEP)])
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  )
})

t.test('messages.create 400: a refusal of another kind is not repeated', async (t) => {
  const rig = await rigged(t, 'chat')
  rig.first.usually(refusesChat(400, { message: 'reasoning_content is required.' }))
  t.equal((await rig.send('messages', STEP)).status, 400)
  t.equal(rig.first.calls.length, 1)
})

for (const name of ['reasoning', 'reasoning_content'] as const)
  for (const from of ['messages', 'chat'] as const)
    for (const stream of [false, true])
      t.test(
        `${from}.create 200: reasoning is sent back as ${name}, the field of the provider's ${stream ? 'stream' : 'whole answer'}`,
        async (t) => {
          const rig = await rigged(t, 'chat')
          const other = name === 'reasoning' ? 'reasoning_content' : 'reasoning'
          const step = from === 'chat' ? OWN_STEP : STEP
          const given = async (): Promise<unknown> => {
            t.equal((await rig.send(from, { ...step, stream })).status, 200)
            const last = rig.first.calls.at(-1)
            return last && bodyOf(last)
          }
          rig.first.usually(answersChat())
          t.match(
            await given(),
            { messages: [{}, { [name]: 'need f', [other]: 'need f' }, {}] },
            'unknown yet',
          )
          rig.first.usually(thinksIn(name))
          await given()
          rig.first.usually(answersChat())
          t.match(await given(), { messages: [{}, { [name]: 'need f', [other]: undefined }, {}] })
        },
      )

/** Thinks in a member of its own, then says a word. */
function thinksIn(name: string): FakeAnswer {
  return (call, reply) => {
    const text = { [name]: 'Hm.', content: 'Hi' }
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    if (bodyOf(call)['stream'] !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', ...text }, finish_reason: 'stop' }]
      return wholeJson(200, JSON.stringify({ id: 'c', choices, usage }))(call, reply)
    }
    const chunk = (delta: object, finish: string | null): string =>
      JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })
    const events = [chunk({ role: 'assistant', ...text }, null), chunk({}, 'stop')]
    return streams([...events, JSON.stringify({ choices: [], usage }), '[DONE]'].map((data) => ({ data })))(
      call,
      reply,
    )
  }
}
