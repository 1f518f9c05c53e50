import { INFERENCE_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import { ResponsesAnswer, ResponsesEvent } from '../../../schemas/inference/responses.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import { defineOperation } from '../define.ts'
import { ANSWER_HEADERS, answerText, TEXT_HEADERS, TEXT_STATUSES, type TextOperation } from './answer-text.ts'
import { ResponsesEvents, responsesUsage } from '../../../dialects/responses/answer.ts'
import { INLINE_FILE_FAILURES } from './text-inputs.ts'
import { PAID_CALL_FAILURES } from '../model-calls.ts'
import { WHOLE_TEXTS } from '../../../dialects/native-answer.ts'

interface Inputs {
  readonly headers: typeof TEXT_HEADERS
  readonly body: 'responses'
}

const OPERATION = 'responses.create'

const RESPONSES: TextOperation = {
  operation: OPERATION,
  statuses: TEXT_STATUSES,
  tokensMember: 'max_output_tokens',
  events: (head, request) => new ResponsesEvents(head, request),
  whole: WHOLE_TEXTS.responses,
  usageOf: responsesUsage,
}

/**
 * Generates the next items of a conversation, streamed or whole. Source: D1–D4, D8, D10, D11, D13, D15, D16,
 * D19, D21.
 */
export const createResponse = defineOperation<Inputs, TextRequest>({
  id: OPERATION,
  method: 'post',
  path: '/responses',
  tag: 'inference',
  summary: 'Create a response',
  description:
    'With `stream: true`, the answer is sent as server-sent events, with usage and cost in the last event. A stream ' +
    'without `response.completed`, `.incomplete` or `.failed` is incomplete: its last event is `error`, and the ' +
    "connection closes without the final chunk. With the operator's provider key, nothing is stored.",
  deadlineMs: INFERENCE_DEADLINE_MS,
  input: { headers: TEXT_HEADERS, body: 'responses' },
  success: {
    status: 200,
    body: ResponsesAnswer,
    events: ResponsesEvent,
    headers: ANSWER_HEADERS,
  },
  tellsParam: true,
  statuses: TEXT_STATUSES,
  failures: [
    ...PAID_CALL_FAILURES,
    ...INLINE_FILE_FAILURES,
    'not_supported',
    'stateless',
    'field_unsupported',
  ],
  example: { body: { model: 'sluice/echo-1', input: 'Hello there' } },
  run: (call, ports) => answerText(call, RESPONSES, ports),
})
