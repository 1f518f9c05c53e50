/**
 * The work of both proxies on an embeddings call between their HTTP server and the provider: the product's
 * checks, in memory.
 */
import { costNano, usdOfNano } from '../../src/schemas/money/costs.ts'
import { fail, ok, type Failure, type Outcome } from '../../src/schemas/failures.ts'
import type { EmbeddingsRequest } from '../../src/server/ports/embeddings/embeddings.ts'
import { contentRefusal } from '../../src/server/http/call/head.ts'
import { headersOf, replyOfFailure, type ReplyFacts } from '../../src/server/http/reply/reply.ts'
import { RequestIds } from '../../src/schemas/requests/request-id.ts'
import { bodyOf } from '../../src/server/http/call/take-inputs.ts'
import { createEmbeddings } from '../../src/server/operations/embeddings/create-embeddings.ts'
import { mostTokens } from '../../src/server/upstream/embeddings/bounds.ts'
import {
  bulkOf,
  shapeOf,
  valueOf,
  type InputShape,
} from '../../src/server/upstream/embeddings/input-shape.ts'
import { judgeUsage } from '../../src/server/upstream/embeddings/usage.ts'
import { INLINE_JSON_BYTES_MAX } from '../../src/schemas/limits/limits.ts'
import { decodeEmbeddings } from '../../src/workers/decode-embeddings.ts'
import { readBody } from '../../src/workers/read-body.ts'
import { takeAnswer } from '../../src/workers/scan-answer.ts'
import { Callers, hold, settle, type Entry } from './callers.ts'
import { Provider } from './provider.ts'
import type { ProxyModel, ProxySettings } from './settings.ts'
import { nextCallId } from '../../src/server/operations/model-calls.ts'

/** A reply ready to write: flat list of names and values. */
export interface ProxyReply {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string | Buffer
}

/** The used parts of a request's head. */
export interface ProxyHead {
  readonly authorization?: string | undefined
  readonly 'content-type'?: string | undefined
  readonly 'content-encoding'?: string | undefined
}

interface Wanted {
  readonly model: ProxyModel
  readonly request: EmbeddingsRequest
  readonly shape: InputShape
}

const HEAD = Buffer.from('{"object":"list","data":')
const NOTHING = new Uint8Array(0)

export class Governed {
  readonly #callers: Callers
  readonly #models: ReadonlyMap<string, ProxyModel>
  readonly #provider: Provider
  readonly #ids = new RequestIds()

  constructor({ keys, models, provider, providerKey }: ProxySettings) {
    this.#callers = new Callers(keys)
    this.#models = new Map(models.map((model) => [model.id, model]))
    this.#provider = new Provider(provider, providerKey)
  }

  /** Checks the key and the rate before the body is read. */
  enter(head: ProxyHead): Entry {
    const entry = this.#callers.enter(head.authorization ?? '')
    if (entry.failure !== null) return entry
    const failure = contentRefusal({
      contentType: head['content-type'] ?? '',
      contentEncoding: head['content-encoding'] ?? '',
    })
    return failure === null ? entry : { caller: null, failure, headers: entry.headers }
  }

  async embed(
    { caller, headers }: Extract<Entry, { failure: null }>,
    bytes: Uint8Array = NOTHING,
  ): Promise<ProxyReply> {
    const wanted = this.#read(bytes)
    if (!wanted.ok) return this.refuse(wanted.failure, headers)
    const { model, request, shape } = wanted.value
    const price = { promptNanoPerMillion: model.promptNanoPerMillion, requestNano: 0 }
    const held = costNano(mostTokens(request.input, shape, null) ?? 0, price)
    const refusal = hold(caller, held)
    if (refusal !== null) return this.refuse(refusal, headers)
    const answer = await this.#provider.post(upstreamBody(wanted.value))
    const read = answer.ok ? vectorsOf(answer.value, wanted.value) : answer
    if (!read.ok) {
      settle(caller, held, { costNano: 0, tokens: 0 })
      return this.refuse(read.failure, headers)
    }
    const usage = judgeUsage(read.value, request.input, { shape, contextLength: null })
    const cost = Math.min(held, costNano(usage.promptTokens, price))
    settle(caller, held, { costNano: cost, tokens: usage.promptTokens })
    const figures = `{"prompt_tokens":${usage.promptTokens},"total_tokens":${usage.totalTokens},"cost":${usdOfNano(cost)},"is_byok":false}`
    const tail = Buffer.from(
      `,"model":${JSON.stringify(model.id)},"id":"${nextCallId('emb_')}","usage":${figures}}`,
    )
    return {
      status: 200,
      headers: headersOf('application/json', this.#facts(headers), false),
      body: Buffer.concat([HEAD, read.value.data, tail]),
    }
  }

  /**
   * A failure in the product's envelope, with its status. @param isRoute false where no operation was found
   */
  refuse(failure: Failure, limitHeaders: ReplyFacts['limitHeaders'] = null, isRoute = true): ProxyReply {
    const { status, headers, body } = replyOfFailure(
      failure,
      isRoute ? createEmbeddings : null,
      this.#facts(limitHeaders),
    )
    return { status, headers, body: String(body) }
  }

  #facts(limitHeaders: ReplyFacts['limitHeaders']): ReplyFacts {
    return {
      requestId: this.#ids.next(),
      startedAt: performance.now(),
      notes: {},
      limitHeaders,
      remarks: [],
      corsHeaders: [],
      isScim: false,
      isAnthropic: false,
      head: { ownOrigin: '' },
    }
  }

  #read(bytes: Uint8Array): Outcome<Wanted> {
    const verdict = readBody({ body: 'embeddings', bytes, isOnLoop: bytes.length <= INLINE_JSON_BYTES_MAX })
    if (!verdict.ok) return verdict
    const request = bodyOf(verdict, 'input') as unknown as EmbeddingsRequest
    const model = this.#models.get(request.model ?? '')
    if (model === undefined) return fail('model_unknown')
    const shape = shapeOf(request.input)
    return shape.kind === 'objects' ? fail('input_unsupported') : ok({ model, request, shape })
  }
}

function upstreamBody({ model, request }: Wanted): string | Buffer {
  const { dimensions, encoding_format: encoding, input_type: inputType, user } = request
  const head = `{"model":${JSON.stringify(model.upstreamModel)},"input":`
  const options = JSON.stringify({
    dimensions,
    encoding_format: encoding === 'base64' ? encoding : undefined,
    input_type: inputType,
    user,
  })
  const tail = options === '{}' ? '}' : `,${options.slice(1)}`
  const bulk = bulkOf(request.input)
  return bulk === null
    ? head + JSON.stringify(valueOf(request.input)) + tail
    : Buffer.concat([Buffer.from(head), bulk, Buffer.from(tail)])
}

interface Vectors {
  readonly data: Uint8Array
  readonly promptTokens: number | null
  readonly totalTokens: number | null
}

/** The vectors of an answer; they pass unparsed where they have the requested form, as in the product. */
function vectorsOf(answer: Buffer, { request, shape }: Wanted): Outcome<Vectors> {
  const input = { answer, encoding: request.encoding_format ?? 'float', count: shape.count } as const
  const taken = takeAnswer(input)
  if (taken !== null) return ok({ ...taken, data: answer.subarray(taken.start, taken.end) })
  const decoded = decodeEmbeddings({ protocol: 'openai', ...input })
  return decoded.ok ? ok(decoded) : fail('upstream_invalid')
}
