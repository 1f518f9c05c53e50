/**
 * The product's pipeline without its governing stages: exchange, body reader, the call to providers and its
 * reply, without access, limits, validation, real money, metering and logs. The product's own figure is
 * compared with it.
 */
import type { Outcome } from '../src/schemas/failures.ts'
import { BODIES_BYTES_MAX } from '../src/schemas/limits/limits.ts'
import {
  EMBEDDINGS_BODY_BYTES_MAX,
  EMBEDDINGS_DEADLINE_MS,
} from '../src/schemas/embeddings/embedding-limits.ts'
import { Secret } from '../src/schemas/vault/secret.ts'
import { loadCatalogue } from '../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../src/server/catalogue/shipped.ts'
import { openEgress } from '../src/server/egress/egress.ts'
import { ReadEnd } from '../src/server/http/body/socket-reading.ts'
import { Connections, connectionsMax } from '../src/server/http/connections.ts'
import type { ExchangeHost, ExchangeOwner } from '../src/server/http/exchange-deps.ts'
import { Exchange } from '../src/server/http/exchange.ts'
import type { Reply } from '../src/server/http/reply/reply-body.ts'
import { RequestHead } from '../src/server/http/call/head.ts'
import { openListener } from '../src/server/http/front.ts'
import { statusLine } from '../src/server/http/reply/reply.ts'
import { SwapList } from '../src/server/structures/swap-list.ts'
import { Timers } from '../src/server/http/timers.ts'
import type { WireRequest, WireResponse } from '../src/server/http/reply/wire.ts'
import type {
  Embedder,
  EmbeddingCaller,
  EmbeddingsRequest,
} from '../src/server/ports/embeddings/embeddings.ts'
import type { ResolvedModel } from '../src/server/ports/models/models.ts'
import type { KeyRecord } from '../src/server/ports/keys/keys.ts'
import type { ModelReply } from '../src/server/ports/model-calls.ts'
import type { CallTime } from '../src/server/http/call/call-time.ts'
import { FREE_PAYMENT } from '../test/support/money/free-spend.ts'
import { createEmbedder } from '../src/server/inference/embedder.ts'
import { openPools } from '../src/workers/pool.ts'
import { BodyBudget } from '../src/server/http/body/body.ts'
import { UnreadAnswers } from '../src/server/limits/loop-share.ts'

export interface UngovernedSettings {
  readonly port: number
  readonly catalogFile: string
  readonly model: string
  /** Name of the environment variable that the catalogue's provider lists. */
  readonly providerKey: string
}

interface Parts {
  readonly host: ExchangeHost
  readonly embedder: Embedder
  readonly model: ResolvedModel
}

class UngovernedCall implements ExchangeOwner {
  readonly organizationId = null
  readonly #exchange: Exchange
  readonly #parts: Parts

  constructor(parts: Parts, res: WireResponse, head: RequestHead) {
    this.#parts = parts
    this.#exchange = new Exchange(res, { owner: this, host: parts.host, head })
    this.#exchange.time.limit(EMBEDDINGS_DEADLINE_MS)
    this.#exchange.receive(EMBEDDINGS_BODY_BYTES_MAX).admit(NOBODY, (received) => this.#embed(received))
  }

  expired(): void {
    this.#fail(504)
  }

  drained(): void {
    this.#fail(503)
  }

  broken(): void {}

  crashed(): void {
    this.#fail(500)
  }

  settled(): void {}

  #embed(received: Outcome<Uint8Array>): void {
    if (!received.ok) return this.#fail(400)
    const exchange = this.#exchange
    const request = JSON.parse(Buffer.from(received.value).toString()) as EmbeddingsRequest
    exchange.work(true)
    const { model, embedder } = this.#parts
    const { time } = exchange
    const answered = embedder.answer(
      {
        operation: 'embeddings.create',
        id: '',
        model,
        request,
        limits: null,
        caller: NOBODY,
        requestId: '',
        hops: 0,
        deadlineAt: time.deadlineAt,
        call: callerOf(time),
      },
      FREE_PAYMENT,
    )
    void Promise.resolve(answered).then((answer) => {
      if (answer.ok) exchange.send(replyOf(answer.value))
      else this.#fail(502)
      exchange.rest()
    })
  }

  #fail(status: number): void {
    this.#exchange.send({ status, statusLine: statusLine(status), headers: [], body: '' })
  }
}

const NOBODY = { organizationId: '', workspaceId: '', key: '' }
/** A key without limits; nothing else of it is read. */
const KEY = { callLimits: null } as KeyRecord

/** The call as the embedder sees it: its time alone. */
function callerOf(time: CallTime): EmbeddingCaller {
  return {
    key: KEY,
    requestId: '',
    deadlineAt: time.deadlineAt,
    get signal() {
      return time.signal
    },
    get hasEnded() {
      return time.hasEnded
    },
    notes: {},
    limited: () => undefined,
  }
}

function replyOf(answer: ModelReply): Reply {
  const { parts, done } = answer.kind === 'bytes' ? answer : { parts: [], done: undefined }
  return {
    status: 200,
    statusLine: statusLine(200),
    headers: ['content-type', 'application/json'],
    body: parts,
    ...(done !== undefined && { done }),
  }
}

async function serve(settings: UngovernedSettings): Promise<void> {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: settings.catalogFile })
  const model = loaded.ok ? loaded.catalogue.resolve(settings.model) : null
  if (model === null) throw new Error('the catalogue of the bench has mistakes')
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const parts: Parts = {
    host: {
      timers: new Timers(),
      budget: new BodyBudget(BODIES_BYTES_MAX),
      readEnd: new ReadEnd(),
      unread: new UnreadAnswers(),
      open: new SwapList(),
      isClosing: false,
      isOutOfTime: false,
      random: Math.random,
    },
    embedder: createEmbedder({
      egress: openEgress(),
      jobs: openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 16, log }).jobs,
      credentials: new Map([[settings.providerKey, new Secret('bench')]]),
      log,
      meters: { upstream() {} },
      now: () => performance.now(),
      random: Math.random,
    }),
    model,
  }
  await openListener({
    host: '127.0.0.1',
    port: settings.port,
    tls: null,
    connections: new Connections(connectionsMax(0)),
    serve: (res: WireResponse, req: WireRequest) => void new UngovernedCall(parts, res, new RequestHead(req)),
  })
  process.send?.('ready')
}

process.once('message', (settings: UngovernedSettings) => void serve(settings))
process.on('disconnect', () => process.exit(0))
