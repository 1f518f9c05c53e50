import { COUNT_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import { TokenCount } from '../../../schemas/inference/messages.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { Ports } from '../../ports/ports.ts'
import { modelsOf, hopsOf, MODEL_CALL_FAILURES } from '../model-calls.ts'
import { defineOperation, type Call, type Success } from '../define.ts'
import { TEXT_STATUSES } from './answer-text.ts'
import { INLINE_FILE_FAILURES, type TextWithFiles, callableModels, completeText } from './text-inputs.ts'
import { anthropicHeaders } from './create-message.ts'

/** As of `ANSWER_HEADERS`. */
const DROPPED_HEADER = 'x-sluice-dropped'

interface Inputs {
  readonly headers: readonly ['x-sluice-hops', 'anthropic-version', 'anthropic-beta']
  readonly body: 'count_tokens'
}

const OPERATION = 'messages.count_tokens'

type CountCall = Call<undefined, undefined, TextRequest>

/** Counts the tokens of a prompt, as the provider counts them. Free. Source: D1–D3, D5, D20. */
export const countTokens = defineOperation<Inputs, TextRequest>({
  id: OPERATION,
  method: 'post',
  path: '/messages/count_tokens',
  tag: 'inference',
  summary: 'Count the tokens of a message',
  description:
    "Returns the provider's own count, free of charge. If the provider does not count tokens, the call returns 404 " +
    '`count_unavailable`; Sluice does not estimate.',
  access: { keys: ['inference', 'intern'], keyScopes: ['inference'], takesAnthropicKey: true },
  deadlineMs: COUNT_DEADLINE_MS,
  outlivesClient: false,
  input: { headers: ['x-sluice-hops', 'anthropic-version', 'anthropic-beta'], body: 'count_tokens' },
  success: {
    status: 200,
    body: TokenCount,
    headers: { [DROPPED_HEADER]: 'Fields of the request that are not counted, comma-separated.' },
  },
  isAnthropic: true,
  statuses: TEXT_STATUSES,
  failures: [
    ...MODEL_CALL_FAILURES,
    ...INLINE_FILE_FAILURES,
    'not_supported',
    'stateless',
    'field_unsupported',
    'count_unavailable',
  ],
  example: { body: { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there' }] } },
  async run(call, ports) {
    const text = await completeText(call, ports, { isCount: true })
    return text.ok ? count(call, text.value, ports) : text
  },
})

async function count(
  call: CountCall,
  { body, files }: TextWithFiles,
  ports: Ports,
): Promise<Outcome<Success>> {
  const known = await modelsOf(call.key, ports)
  if (!known.ok) return known
  const found = callableModels({ key: call.key, body }, known.value, ports)
  if (!found.ok) return found
  const passed = anthropicHeaders(call)
  if (!passed.ok) return passed
  const [model] = found.value
  call.notes.model = model.id
  const counted = await ports.inference.count({
    operation: OPERATION,
    models: found.value,
    request: body,
    ...(files !== undefined && { files }),
    passedHeaders: passed.value,
    caller: callerOf(call.key),
    session: null,
    requestId: call.requestId,
    hops: hopsOf(call),
    deadlineAt: call.deadlineAt,
    call,
  })
  if (!counted.ok) return counted
  const { json, dropped } = counted.value
  return {
    ok: true,
    value: {
      ...{ kind: 'bytes', parts: [json], contentType: 'application/json' },
      ...(dropped.length > 0 && { headers: { [DROPPED_HEADER]: dropped.join(',') } }),
    },
  }
}
