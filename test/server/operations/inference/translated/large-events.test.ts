/** Calls of models of another form whose arguments are long: Google sends all of a call in one event. D12. */
import t from 'tap'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { STREAM_MENDED_BYTES_MAX } from '../../../../../src/schemas/inference/stream-limits.ts'
import { eventsIn } from '../../../../support/inference/accumulated.ts'
import { answersGemini } from '../../../../support/inference/gemini/fake-gemini.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'

interface Delta {
  readonly type?: string
  readonly delta?: string | { readonly partial_json?: string }
  readonly choices?: readonly {
    readonly delta: {
      readonly tool_calls?: readonly { readonly function: { readonly arguments?: string } }[]
    }
  }[]
}

/** A fragment of the arguments. */
const FRAGMENT: Readonly<Record<Dialect, (event: Delta) => string | undefined>> = {
  chat: ({ choices }) => choices?.[0]?.delta.tool_calls?.[0]?.function.arguments,
  responses: ({ type, delta }) =>
    type === 'response.function_call_arguments.delta' ? String(delta) : undefined,
  messages: ({ delta }) => (typeof delta === 'object' ? delta.partial_json : undefined),
}
const ARGS = { text: 'say "é"\n'.repeat(STREAM_MENDED_BYTES_MAX / 8) }
const LAST: Readonly<Record<Dialect, RegExp>> = {
  chat: /\[DONE\]\n\n$/,
  responses: /"type":"response.completed"[^\n]+\n\n$/,
  messages: /"type":"message_stop"\}\n\n$/,
}

for (const dialect of ['chat', 'responses', 'messages'] as const)
  t.test(`${dialect}: the arguments in the stream equal those of the whole answer`, async (t) => {
    const { first, send, rest, breakers } = await rigged(t, 'gemini')
    const answer = answersGemini({ calls: [{ name: 'f', args: ARGS }] })
    first.script(answer, answer)
    const response = await send(dialect, { stream: true })
    const text = await response.text()
    t.match(text, LAST[dialect])
    const events = eventsIn(Buffer.from(text)) as readonly Delta[]
    const json = events.map((event) => FRAGMENT[dialect](event) ?? '').join('')
    t.ok(json === JSON.stringify(ARGS), 'streamed')
    const whole = await (await send(dialect)).text()
    t.ok(whole.includes(dialect === 'messages' ? JSON.stringify(ARGS) : JSON.stringify(json)), 'whole')
    t.same(breakers(), [])
    t.equal(await rest(), 0)
  })
