/** Integers that a parser would round, in the arguments of calls. */
import t from 'tap'
import { partsOf } from '../../support/inference/cut-parts.ts'
import { FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import { wholeOfParts } from '../../support/inference/written-answers.ts'
import { orNull } from '../../support/must.ts'
import { PART_PROTOCOLS } from '../../../src/dialects/translate.ts'
import type { TextProtocol } from '../../../src/schemas/models/protocols.ts'

const JSON_TEXT = '{"id":9007199254740993}'
const WHOLE: Readonly<Record<TextProtocol, string>> = {
  chat: `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${JSON_TEXT}}}]}}]}`,
  responses: `{"output":[{"type":"function_call","call_id":"c","name":"f","arguments":${JSON.stringify(JSON_TEXT)}}],"status":"completed"}`,
  messages: `{"type":"message","content":[{"type":"tool_use","id":"c","name":"f","input":${JSON_TEXT}}],"stop_reason":"tool_use"}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${JSON_TEXT}}}]},"finishReason":"STOP"}]}`,
}

for (const [protocol, answer] of Object.entries(WHOLE) as [TextProtocol, string][])
  t.test(`${protocol}: long integers in arguments keep their digits up to the caller`, (t) => {
    const parts = orNull(PART_PROTOCOLS[protocol].whole(Buffer.from(answer)))?.parts ?? []
    t.match(
      parts.find(({ kind }) => kind === 'arguments'),
      { text: JSON_TEXT },
    )
    t.match(JSON.stringify(wholeOfParts('chat', parts)), /9007199254740993/)
    t.end()
  })

t.test('calls in a stream of Gemini keep all digits of long integers', (t) => {
  const read = partsOf(PART_PROTOCOLS.gemini.stream(FAILURE_OF), [Buffer.from(`data: ${WHOLE.gemini}\n\n`)])
  t.match(read.parts, [{ kind: 'tool' }, { kind: 'arguments', text: JSON_TEXT }])
  t.end()
})
