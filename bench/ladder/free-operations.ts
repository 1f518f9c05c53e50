/** The embeddings operation below its own rungs. */
import { fail, ok, type Outcome } from '../../src/schemas/failures.ts'
import { callerOf } from '../../src/schemas/values/callers.ts'
import { callableModel } from '../../src/server/operations/model-calls.ts'
import type { Call, Success } from '../../src/server/operations/define.ts'
import type { EmbeddingsRequest } from '../../src/server/ports/embeddings/embeddings.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import type { Provider } from '../peers/provider.ts'
import { FREE_PAYMENT } from '../../test/support/money/free-spend.ts'
import { RAW } from './free.ts'

const JSON_TYPE = 'application/json'

/** Passes the bytes of the body to the provider as they came, and those of its answer back. */
export function passedOn(provider: Provider): (call: Call) => Promise<Outcome<Success>> {
  return async ({ body }) => {
    const raw: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, RAW) : null
    if (!(raw instanceof Uint8Array)) return fail('internal')
    const answer = await provider.post(Buffer.from(raw.buffer, raw.byteOffset, raw.length))
    return answer.ok ? ok({ kind: 'bytes', parts: [answer.value], contentType: JSON_TYPE }) : answer
  }
}

type EmbeddingsCall = Call<undefined, undefined, EmbeddingsRequest>

/** Calls the model by the endpoints that are chosen for it, for money that costs nothing. */
export async function routed(call: EmbeddingsCall, ports: Ports): Promise<Outcome<Success>> {
  const { body: request, key, requestId, deadlineAt } = call
  const found = callableModel({ name: request.model ?? '', makes: 'embeddings', key }, ports.models, ports)
  if (!found.ok) return found
  const job = {
    operation: 'embeddings.create',
    id: '',
    model: found.value,
    request,
    limits: key.money,
    caller: callerOf(key),
    requestId,
    hops: 0,
    deadlineAt,
    call,
  }
  return ports.embedder.answer(job, FREE_PAYMENT)
}
