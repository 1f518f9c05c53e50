/** A provider of all four protocols that counts the bytes of each request, and keeps none of them. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { MAKERS } from '../../../support/inference/forms-facts.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import { until } from '../../../support/wait.ts'
import type { Proof } from '../../proof.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** A request that came whole. */
export interface GotRequest {
  readonly protocol: TextProtocol
  /** The endpoint of the model that it came by: the first has 1. */
  readonly nth: number
  readonly sha256: string
  readonly bytes: number
  /** Its length was announced before. */
  readonly isMeasured: boolean
  /** Empty unless bodies are kept. */
  readonly body: Buffer
}

export interface FileProvider {
  readonly origin: string
  readonly got: readonly GotRequest[]
  /** First endpoints are overloaded. */
  isFirstOverloaded: boolean
  isKeeping: boolean
  /** Reads nothing of requests until so many have begun, or no more begin. @returns how many had begun */
  holding(count: number, work: () => Promise<unknown>): Promise<number>
}

const QUIET_MS = 1_000

export async function startFileProvider(proof: Proof): Promise<FileProvider> {
  const got: GotRequest[] = []
  let begun = 0
  let gate: Promise<void> | null = null
  const provider = { isFirstOverloaded: false, isKeeping: false }
  const serve = async (asked: IncomingMessage, reply: ServerResponse): Promise<void> => {
    begun++
    if (gate !== null) await gate
    const { protocol, nth } = placeOf(asked.url ?? '')
    const hash = createHash('sha256')
    let bytes = 0
    const body = provider.isKeeping ? await buffer(asked) : Buffer.alloc(0)
    const pieces = provider.isKeeping ? [body] : (asked as AsyncIterable<Buffer>)
    for await (const piece of pieces) {
      hash.update(piece)
      bytes += piece.length
    }
    const isMeasured = asked.headers['content-length'] === String(bytes)
    got.push({ protocol, nth, sha256: hash.digest('hex'), bytes, isMeasured, body })
    const isOverloaded = provider.isFirstOverloaded && nth === 1
    reply.writeHead(isOverloaded ? 529 : 200, { 'content-type': 'application/json' })
    reply.end(isOverloaded ? '{}' : JSON.stringify(ANSWERS[protocol]))
  }
  const server = createServer((asked, reply) => {
    // The node may cut a request.
    serve(asked, reply).catch(() => reply.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proof.after(async () => void server.close().closeAllConnections())
  return Object.assign(provider, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    async holding(count: number, work: () => Promise<unknown>) {
      const before = begun
      let open = (): void => undefined
      gate = new Promise((resolve) => (open = resolve))
      const done = work()
      await until('a request has begun', () => begun > before)
      for (let last = -1; begun - before < count && last !== begun; await pause(QUIET_MS)) last = begun
      const held = begun - before
      gate = null
      open()
      await done
      return held
    },
  })
}

/** A path begins with the protocol and the number of the endpoint. */
function placeOf(path: string): Pick<GotRequest, 'protocol' | 'nth'> {
  const [, name = '', nth = ''] = /^\/(\w+)-(\d)\//.exec(path) ?? []
  const protocol = TEXT_PROTOCOLS.find((one) => one === name)
  if (protocol === undefined) throw new Error(`no endpoint: ${path}`)
  return { protocol, nth: Number(nth) }
}

/** A model for each protocol, `files/<protocol>`, each with two endpoints. */
export function fileCatalogue(origin: string): object {
  const architecture = { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] }
  const pricing = { prompt: '0', completion: '0' }
  const slugs = (protocol: TextProtocol): readonly string[] => [1, 2].map((nth) => `${protocol}-${nth}`)
  return {
    providers: TEXT_PROTOCOLS.flatMap((protocol) =>
      slugs(protocol).map((slug) => ({
        ...{ slug, name: slug, protocol: MAKERS[protocol], speaks: [protocol] },
        base_url: `${origin}/${slug}/v1`,
      })),
    ),
    models: TEXT_PROTOCOLS.map((protocol) => ({
      ...{ id: `files/${protocol}`, name: protocol, architecture, context_length: 1_000_000 },
      endpoints: slugs(protocol).map((provider) => ({ provider, upstream_model: 'm', pricing })),
    })),
  }
}

const CHAT_CHOICE = { index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }
const ITEM = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
const ANSWERS: Readonly<Record<TextProtocol, object>> = {
  chat: {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [CHAT_CHOICE] },
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  responses: {
    ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'm' },
    output: [{ ...ITEM, content: [{ type: 'output_text', text: 'ok', annotations: [] }] }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  messages: {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'ok' }], stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
}
