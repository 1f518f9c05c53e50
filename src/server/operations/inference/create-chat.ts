import { ChatAnswer, ChatChunk } from '../../../schemas/inference/chat.ts'
import { INFERENCE_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import { defineOperation } from '../define.ts'
import { ANSWER_HEADERS, answerText, TEXT_HEADERS, TEXT_STATUSES, type TextOperation } from './answer-text.ts'
import { ChatEvents } from '../../../dialects/chat/answer.ts'
import { INLINE_FILE_FAILURES } from './text-inputs.ts'
import { chatUsage } from '../../../dialects/chat/usage.ts'
import { PAID_CALL_FAILURES } from '../model-calls.ts'
import { WHOLE_TEXTS } from '../../../dialects/native-answer.ts'

interface Inputs {
  readonly headers: typeof TEXT_HEADERS
  readonly body: 'chat'
}

const OPERATION = 'chat.create'

const CHAT: TextOperation = {
  operation: OPERATION,
  statuses: TEXT_STATUSES,
  tokensMember: 'max_tokens',
  events: (head, request) => new ChatEvents(head, request),
  whole: WHOLE_TEXTS.chat,
  usageOf: chatUsage,
}

/**
 * Generates the next message of a conversation, streamed or whole. Source: D1–D4, D7, D10, D11, D13, D15, D16,
 * D19, D21.
 */
export const createChat = defineOperation<Inputs, TextRequest>({
  id: OPERATION,
  method: 'post',
  path: '/chat/completions',
  tag: 'inference',
  summary: 'Create a chat completion',
  description:
    'With `stream: true`, the answer is sent as server-sent events, with usage and cost at the end. A stream without ' +
    '`[DONE]` is incomplete: its last event holds the error, and the connection closes without the final chunk.',
  deadlineMs: INFERENCE_DEADLINE_MS,
  input: { headers: TEXT_HEADERS, body: 'chat' },
  success: {
    status: 200,
    body: ChatAnswer,
    events: ChatChunk,
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
  example: { body: { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there' }] } },
  run: (call, ports) => answerText(call, CHAT, ports),
})
