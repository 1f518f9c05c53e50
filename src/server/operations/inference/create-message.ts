import { INFERENCE_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import { MessageAnswer, MessageEvent } from '../../../schemas/inference/messages.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import { defineOperation, type Call } from '../define.ts'
import { ANSWER_HEADERS, answerText, TEXT_HEADERS, TEXT_STATUSES, type TextOperation } from './answer-text.ts'
import { MessageEvents, messagesUsage } from '../../../dialects/messages/answer.ts'
import { INLINE_FILE_FAILURES } from './text-inputs.ts'
import { PAID_CALL_FAILURES } from '../model-calls.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { WHOLE_TEXTS } from '../../../dialects/native-answer.ts'

/** Most characters of a caller's header that is passed on to a provider. Decision. */
export const PASSED_HEADER_CHARS_MAX = 2_048

interface Inputs {
  readonly headers: readonly [...typeof TEXT_HEADERS, 'anthropic-version', 'anthropic-beta']
  readonly body: 'messages'
}

const OPERATION = 'messages.create'

const MESSAGES: TextOperation = {
  operation: OPERATION,
  statuses: TEXT_STATUSES,
  tokensMember: 'max_tokens',
  events: (head, request) => new MessageEvents(head, request),
  whole: WHOLE_TEXTS.messages,
  usageOf: messagesUsage,
  passed: anthropicHeaders,
}

/**
 * Generates the next message of a conversation in Anthropic's form, streamed or whole. Source: D1–D4, D10,
 * D11, D13, D15, D16, D19–D21.
 */
export const createMessage = defineOperation<Inputs, TextRequest>({
  id: OPERATION,
  method: 'post',
  path: '/messages',
  tag: 'inference',
  summary: "Create a message in Anthropic's format",
  description:
    'With `stream: true`, the answer is sent as server-sent events, with usage and cost in the last `message_delta`. ' +
    'A stream without `message_stop` is incomplete: its last event is `error`, and the connection closes without the ' +
    'final chunk.',
  access: { keys: ['inference', 'intern'], keyScopes: ['inference'], takesAnthropicKey: true },
  deadlineMs: INFERENCE_DEADLINE_MS,
  input: {
    headers: [...TEXT_HEADERS, 'anthropic-version', 'anthropic-beta'],
    body: 'messages',
  },
  success: { status: 200, body: MessageAnswer, events: MessageEvent, headers: ANSWER_HEADERS },
  isAnthropic: true,
  statuses: TEXT_STATUSES,
  failures: [
    ...PAID_CALL_FAILURES,
    ...INLINE_FILE_FAILURES,
    'not_supported',
    'stateless',
    'field_unsupported',
  ],
  example: {
    body: {
      model: 'sluice/echo-1',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello there' }],
    },
  },
  run: (call, ports) => answerText(call, MESSAGES, ports),
})

/** Comma-separated words: no line end, no second header, nothing that a proxy would interpret. */
const WORDS = /^[\w.:-]+(?:[ \t]*,[ \t]*[\w.:-]+)*$/

const PASSED = ['anthropic-version', 'anthropic-beta'] as const

/**
 * The caller's headers that are passed on to a provider of messages: a flat list of names and values. They
 * request features of Anthropic's models; no other header of the caller is passed on. D4. Failure:
 * header_invalid.
 */
export function anthropicHeaders({ headers }: Pick<Call, 'headers'>): Outcome<readonly string[]> {
  const passed: string[] = []
  for (const name of PASSED) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (value.length > PASSED_HEADER_CHARS_MAX || !WORDS.test(value)) return refused(name)
    passed.push(name, value)
  }
  return ok(passed)
}

function refused(name: string): Outcome<never> {
  const expected = `names of at most ${PASSED_HEADER_CHARS_MAX} characters, separated by commas`
  const issue = { path: `/${name}`, message: 'is not valid', expected }
  return fail('header_invalid', { metadata: { issues: [issue] } })
}
