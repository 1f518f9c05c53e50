/** What providers of responses send, as the client that validates every event and every answer takes it. */
import t from 'tap'
import { nativeAnswer } from '../../../src/dialects/native-answer.ts'
import { NativeResponsesStream } from '../../../src/dialects/responses/stream.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import { HEAD, FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import { RESPONSES_ANSWERS, RESPONSES_STREAMS } from '../../support/inference/responses-streams.ts'
import { must } from '../../support/must.ts'
import { openRouterShapes } from '../../support/wire/foreign-clients.ts'

const USAGE = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 13,
}
const ADDED =
  '"cost":0,"cost_details":{"upstream_inference_cost":null,"upstream_inference_input_cost":0,' +
  '"upstream_inference_output_cost":0},"is_byok":false'
const SHOWN = { whole: `${JSON.stringify(USAGE).slice(0, -1)},${ADDED}}`, added: ADDED }

t.test('the stream of every provider is valid', async (t) => {
  const { event: check } = await openRouterShapes()
  for (const [provider, events] of Object.entries(RESPONSES_STREAMS)) {
    const stream = new NativeResponsesStream(HEAD, FAILURE_OF)
    const { events: given, failure } = stream.read(bodyOf(events))
    t.equal(failure, null, provider)
    t.equal(stream.end(), null, provider)
    const all = Buffer.concat([
      given ?? Buffer.alloc(0),
      ...(stream.finalEvents?.withUsage(SHOWN) ?? []),
    ]).toString()
    for (const event of all.split('\n\n').slice(0, -1)) {
      const data = event.slice(event.indexOf('data: ') + 6)
      t.doesNotThrow(() => check(JSON.parse(data)), `${provider}: ${data}`)
    }
  }
})

t.test('the answer of every provider is valid', async (t) => {
  const { response: check } = await openRouterShapes()
  for (const [provider, body] of Object.entries(RESPONSES_ANSWERS)) {
    const read = must(nativeAnswer('responses', Buffer.from(JSON.stringify(body)), HEAD))
    const text = Buffer.concat(read.withUsage(SHOWN)).toString()
    t.doesNotThrow(() => check(JSON.parse(text)), `${provider}: ${text}`)
  }
})
