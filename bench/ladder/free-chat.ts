/** The chat operation below its own rungs, for answers that are whole and for streams. */
import { fail, ok, type Outcome } from '../../src/schemas/failures.ts'
import type { TextRequest } from '../../src/schemas/inference/text-request.ts'
import { callerOf } from '../../src/schemas/values/callers.ts'
import { callableModel, nextCallId } from '../../src/server/operations/model-calls.ts'
import type { Call, Success } from '../../src/server/operations/define.ts'
import type { TextForm, EventStream } from '../../src/server/ports/inference/inference.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import type { Provider } from '../peers/provider.ts'
import { FREE_PAYMENT } from '../../test/support/money/free-spend.ts'
import { FREE_GENERATIONS, RAW } from './free.ts'
import type { TextEvents } from '../../src/dialects/answers.ts'
import type { ShownUsage } from '../../src/dialects/parts.ts'
import { WHOLE_TEXTS } from '../../src/dialects/native-answer.ts'

const JSON_TYPE = 'application/json'
const SILENCE = Buffer.from(': \n\n')
const HEAD = { headers: {}, silence: (): Uint8Array => SILENCE }
/** The place of the usage in an answer gets an empty object. */
const NO_USAGE: ShownUsage = { whole: '{}', added: null }
/** The event with the usage belongs to the operation. */
const LAST = Buffer.from('data: [DONE]\n\n')
const STREAMED = ok({ kind: 'streamed' } as const)

type ChatCall = Call<undefined, undefined, TextRequest>

/** Passes the bytes of the body to the provider as they came, and each read of its answer back. */
export function chatPassedOn(
  provider: Provider,
  isStream: boolean,
): (call: ChatCall) => Promise<Outcome<Success>> {
  return async (call) => {
    const raw = bytesOf(call.body)
    if (raw === null) return fail('internal')
    if (isStream) return streamedOn(call, provider, raw)
    const answer = await provider.post(raw)
    return answer.ok ? ok({ kind: 'bytes', parts: [answer.value], contentType: JSON_TYPE }) : answer
  }
}

/** The bytes that the form of the body keeps, or those of a body that was not read. */
function bytesOf(body: unknown): Uint8Array | null {
  if (typeof body !== 'object' || body === null) return null
  const raw: unknown = Reflect.get(body, RAW) ?? (body as Partial<TextRequest>).source?.bytes
  return raw instanceof Uint8Array ? raw : null
}

function streamedOn(call: ChatCall, provider: Provider, body: Uint8Array): Promise<Outcome<Success>> {
  return new Promise((resolve) => {
    let stream: EventStream | null = null
    provider.stream(body, {
      begin: () => (stream = call.events(HEAD)),
      take: (bytes) => stream?.write(bytes),
      end(failure) {
        if (failure !== null) return resolve({ ok: false, failure })
        stream?.end()
        resolve(STREAMED)
      },
    })
  })
}

/** Calls the model by the endpoints that are chosen for it, and passes its answer on without a usage. */
export async function chatRouted(call: ChatCall, ports: Ports): Promise<Outcome<Success>> {
  const { body: request, key, requestId, deadlineAt, startedAt } = call
  const found = callableModel({ name: request.model ?? '', makes: 'texts', key }, ports.models, ports)
  if (!found.ok) return found
  const { id: model } = found.value
  const job = {
    operation: 'chat.create',
    startedAt,
    models: [found.value],
    request,
    head: { id: nextCallId('gen_'), createdS: Math.floor(Date.now() / 1_000), model },
    limits: key.money,
    caller: callerOf(key),
    session: null,
    requestId,
    hops: 0,
    deadlineAt,
    call,
  }
  return ports.inference.answer(job, PASSED, { ...FREE_PAYMENT, generations: FREE_GENERATIONS })
}

/** The provider of the ladder speaks the form of the caller: no event is written anew. */
const EVENTS: TextEvents = {
  silence: SILENCE,
  begin: () => undefined,
  eventsOf: () => SILENCE,
  lastOf: () => LAST,
  failureOf: () => LAST,
}

const PASSED: TextForm = {
  tokensMember: 'max_tokens',
  statuses: [],
  events: () => EVENTS,
  whole: WHOLE_TEXTS.chat,
  usageOf: () => NO_USAGE,
}
