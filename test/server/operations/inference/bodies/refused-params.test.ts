/** The member that a provider refuses, as callers read it. D20. */
import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { refusesChat } from '../../../../support/inference/fake-chat.ts'
import { streams } from '../../../../support/inference/fake-stream.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'

const PARAM = 'messages[0].content'
const REFUSAL = { message: 'No.', param: PARAM, code: 'invalid_value' }

interface Answer {
  readonly status: number
  readonly error: { readonly param?: string | null; readonly metadata: Readonly<Record<string, unknown>> }
}

for (const to of ['chat', 'responses'] as const)
  t.test(`400 upstream_refused: names members that ${to} refuses, streamed and whole`, async (t) => {
    const { send, first } = await rigged(t, to)
    const answer = async (from: Dialect, stream: boolean): Promise<Answer> => {
      const response = await send(from, { stream })
      return { ...((await response.json()) as Answer), status: response.status }
    }
    for (const from of DIALECTS)
      for (const stream of [false, true]) {
        first.script(refusesChat(400, REFUSAL))
        const { status, error } = await answer(from, stream)
        t.equal(status, 400)
        t.match(error.metadata, { error_type: 'upstream_refused', provider_param: PARAM })
        const param = from === 'messages' ? undefined : from === to ? PARAM : null
        t.equal(error.param, param, 'a path in a request that Sluice wrote is none of the caller’s')
      }
  })

t.test('chat 400 upstream_refused: an error event before the first output names the member', async (t) => {
  const { send, first } = await rigged(t, 'chat')
  const error = { ...REFUSAL, type: 'invalid_request_error' }
  first.script(streams([{ data: JSON.stringify({ error }) }]))
  const refused = await send('chat', { stream: true })
  t.equal(refused.status, 400)
  t.match(await refused.json(), { error: { param: PARAM, metadata: { provider_param: PARAM } } })
})

t.test("502 upstream_credential: names no member when the provider refuses the operator's key", async (t) => {
  const { send, first } = await rigged(t, 'chat')
  first.script(refusesChat(401, { ...REFUSAL, param: 'api_key' }))
  const { error } = (await (await send('chat')).json()) as Answer
  t.equal(error.param, null)
  t.notOk('provider_param' in error.metadata)
})
