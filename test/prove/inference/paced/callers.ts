/** Callers that stream from a node, each on a connection of its own, so that fronts share them. */
import { request as send, type ClientRequest, type IncomingMessage } from 'node:http'
import type { PacedDialect } from './dialects.ts'
import type { Asked } from './provider.ts'

/** One call, as its caller sees it. */
export interface PacedCall {
  readonly id: string
  readonly dialect: PacedDialect
  /** Bytes of the request's body. */
  readonly bodyBytes: number
  /** 0: no answer has come. */
  status: number
  /** Resolves with the head of the answer, or at the end. */
  readonly begun: Promise<void>
  /** `error_type` of a refusal, or of the event that ends a stream; else empty. */
  refusal: string
  /** `gen_…`; empty until the head of the answer. */
  generationId: string
  /** Words that the caller has read. */
  read: number
  /** Events that reported a failure. D21. */
  failures: number
  /** Milliseconds of the longest time between two reads. */
  gapMs: number
  /** `open` until the end. `whole`: with the end of its dialect; `broken`: without; `left`: the caller went. */
  end: 'open' | 'whole' | 'broken' | 'left'
  /** `performance.now()` when the caller left. */
  leftAt: number
  /** `performance.now()` of the end, however it came; 0: it goes on. */
  endedAt: number
  /** Of its connection, at the caller; 0 without one. */
  localPort: number
  /** USD by the last event. */
  cost: number
  /** Resolves at the end. */
  readonly over: Promise<void>
  /** Closes the connection. */
  leave(): void
}

export interface CallersInput {
  readonly port: number
  readonly model: string
}

/** What a call asks for. */
export interface Asking {
  readonly dialect: PacedDialect
  readonly asked: Asked
  /** The most tokens of the answer; absent: the least that the dialect takes. */
  readonly tokensMax?: number
}

/** A call's request. */
export function bodyOf(model: string, { dialect, asked, tokensMax }: Asking): string {
  return JSON.stringify({ model, stream: true, ...dialect.request(JSON.stringify(asked), tokensMax) })
}

export function startCall(
  { port, model }: CallersInput,
  asking: Asking & { readonly key: string },
): PacedCall {
  const { dialect, asked, key } = asking
  const body = bodyOf(model, asking)
  const bodyBytes = Buffer.byteLength(body)
  const req = send({
    port,
    host: '127.0.0.1',
    path: `/api/v1${dialect.path}`,
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': bodyBytes,
      authorization: `Bearer ${key}`,
      'x-request-id': asked.id,
    },
  })
  const call = callOf({ id: asked.id, bodyBytes, dialect }, req)
  req.end(body)
  return call
}

type Sent = Pick<PacedCall, 'id' | 'dialect' | 'bodyBytes'>

function callOf({ id, dialect, bodyBytes }: Sent, req: ClientRequest): PacedCall {
  let isOver = (): void => undefined
  let hasBegun = (): void => undefined
  const call: PacedCall = {
    ...{
      id,
      dialect,
      bodyBytes,
      status: 0,
      refusal: '',
      failures: 0,
      generationId: '',
      read: 0,
      gapMs: 0,
      end: 'open',
      leftAt: 0,
      endedAt: 0,
      localPort: 0,
      cost: 0,
    },
    over: new Promise((resolve) => (isOver = resolve)),
    begun: new Promise((resolve) => (hasBegun = resolve)),
    leave() {
      if (call.end !== 'open') return
      call.leftAt = performance.now()
      ended('left')
      req.destroy()
    },
  }
  const ended = (how: PacedCall['end']): void => {
    if (call.end === 'open') {
      call.end = how
      call.endedAt = performance.now()
    }
    hasBegun()
    isOver()
  }
  req.on('socket', (socket) => {
    socket.on('connect', () => (call.localPort = socket.localPort ?? 0))
  })
  req.on('error', () => ended('broken'))
  req.on('response', (res) => {
    call.status = res.statusCode ?? 0
    call.generationId = String(res.headers['x-generation-id'] ?? '')
    hasBegun()
    reading(res, call, ended)
  })
  return call
}

/** A refusal, or the last event of a stream that is not whole; responses have a code in place of the type. */
const FAILED = /"error_type":"(\w+)"|^data: \{"type":"error",.*?"code":"(\w+)"/

function reading(res: IncomingMessage, call: PacedCall, ended: (how: PacedCall['end']) => void): void {
  const { received, terminator } = call.dialect
  let rest = ''
  let lastAt = performance.now()
  let isDone = false
  res.setEncoding('utf8').on('data', (piece: string) => {
    const now = performance.now()
    call.gapMs = Math.max(call.gapMs, now - lastAt)
    lastAt = now
    const lines = (rest + piece).split('\n')
    // The body of a refusal is one line without an end.
    rest = call.status === 200 ? (lines.pop() ?? '') : ''
    for (const line of lines) {
      if (line.includes(received)) call.read++
      else if (line === terminator) isDone = true
      else if (line.includes('"usage":{')) call.cost = costOf(line)
      else noteFailure(line, call)
    }
  })
  res.on('error', () => ended('broken'))
  res.on('close', () => ended(isDone && res.complete ? 'whole' : 'broken'))
}

function noteFailure(line: string, call: PacedCall): void {
  const failed = FAILED.exec(line)
  if (failed === null) return
  call.refusal = failed[1] ?? failed[2] ?? ''
  call.failures++
}

interface Costly {
  readonly usage?: { readonly cost?: number }
}

/** The event that ends a response has the usage within. */
function costOf(line: string): number {
  const event = JSON.parse(line.slice('data: '.length)) as Costly & { readonly response?: Costly }
  return (event.usage ?? event.response?.usage)?.cost ?? 0
}
