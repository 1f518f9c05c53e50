/** Callers that stream from a node, each on a connection of its own, so that fronts share them. */
import { request as send, type ClientRequest, type IncomingMessage } from 'node:http'
import { WORD, type Asked } from './paced-provider.ts'

/** One call, as its caller sees it. */
export interface PacedCall {
  readonly id: string
  /** 0: no answer has come. */
  status: number
  /** Resolves with the head of the answer, or at the end. */
  readonly begun: Promise<void>
  /** `error_type` of a refusal, or of the event that ends a stream; empty: there is none. */
  refusal: string
  /** `gen_…`; empty until the head of the answer. */
  generationId: string
  /** Words that the caller has read. */
  read: number
  /** Events that told of a failure. D21. */
  failures: number
  /** Milliseconds of the longest time between two reads. */
  gapMs: number
  /** `open` until the end. `whole`: with `[DONE]`; `broken`: without; `left`: the caller went. */
  end: 'open' | 'whole' | 'broken' | 'left'
  /** `performance.now()` when the caller left. */
  leftAt: number
  /** `performance.now()` of the end, however it came; 0: it goes on. */
  endedAt: number
  /** Of its connection, at the caller; 0: there is none. */
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

/** A call's request. @param more members beside the usual ones */
export function bodyOf(model: string, asked: Asked, more: object = {}): string {
  const messages = [{ role: 'user', content: JSON.stringify(asked) }]
  return JSON.stringify({ model, stream: true, messages, ...more })
}

/** @param more members of the request beside the usual ones */
export function startCall(
  { port, model }: CallersInput,
  { key, asked, more = {} }: { readonly key: string; readonly asked: Asked; readonly more?: object },
): PacedCall {
  const body = bodyOf(model, asked, more)
  const req = send({
    port,
    host: '127.0.0.1',
    path: '/api/v1/chat/completions',
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      authorization: `Bearer ${key}`,
      'x-request-id': asked.id,
    },
  })
  const call = callOf(asked.id, req)
  req.end(body)
  return call
}

function callOf(id: string, req: ClientRequest): PacedCall {
  let isOver = (): void => undefined
  let hasBegun = (): void => undefined
  const call: PacedCall = {
    ...{
      id,
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

function reading(res: IncomingMessage, call: PacedCall, ended: (how: PacedCall['end']) => void): void {
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
      if (line.includes(`"content":"${WORD}"`)) call.read++
      else if (line === 'data: [DONE]') isDone = true
      else if (line.includes('"error_type":')) {
        call.refusal = /"error_type":"(\w+)"/.exec(line)?.[1] ?? ''
        call.failures++
      } else if (line.includes('"usage":{')) call.cost = costOf(line)
    }
  })
  res.on('error', () => ended('broken'))
  res.on('close', () => ended(isDone && res.complete ? 'whole' : 'broken'))
}

function costOf(line: string): number {
  const event = JSON.parse(line.slice('data: '.length)) as { usage?: { cost?: number } }
  return event.usage?.cost ?? 0
}
