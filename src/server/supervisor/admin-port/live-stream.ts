import { get, type IncomingMessage } from 'node:http'
import { Compile } from 'typebox/compile'
import { LIVE_PATH } from '../../../schemas/api-prefix.ts'
import { LiveView } from '../../../schemas/operator/live-view.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import { connectionReason, messageIn, parsedJson } from './answer-text.ts'

/** Milliseconds without an event after which the node counts as unreachable; a node sends an event every second. Decision. */
export const LIVE_SILENCE_MS_MAX = 5_000
/** Characters of one event; that of a node with 256 fronts has less than a tenth of this. Decision. */
export const LIVE_EVENT_CHARS_MAX = 2 ** 20

/** Why the stream ended: the node refuses this key, or the node cannot be reached and may return. */
export interface LiveEnd {
  readonly kind: 'refused' | 'away'
  readonly reason: string
}

export interface LiveInput {
  readonly adminUrl: string
  readonly managementKey: Secret
  /** Receives each view, once a second. */
  onView(view: LiveView): void
  readonly signal: AbortSignal
  /** Milliseconds without an event until the end; LIVE_SILENCE_MS_MAX when absent. */
  readonly silenceMs?: number
}

/** Follows the live view of a node until the stream ends for any reason, the signal included. Never rejects. */
export function followLive({ silenceMs = LIVE_SILENCE_MS_MAX, ...input }: LiveInput): Promise<LiveEnd> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${input.managementKey.reveal()}`, accept: 'text/event-stream' }
    const request = get(
      `${input.adminUrl}${LIVE_PATH}`,
      { agent: false, headers, signal: input.signal },
      (answer) => {
        reading(answer, input, resolve)
      },
    )
    request.setTimeout(silenceMs, () => {
      resolve({ kind: 'away', reason: `no data for ${silenceMs / 1_000} s` })
      request.destroy()
    })
    request.once('error', (cause) => resolve({ kind: 'away', reason: connectionReason(cause) }))
  })
}

function reading(answer: IncomingMessage, { onView, signal }: LiveInput, end: (how: LiveEnd) => void): void {
  const away = (reason: string): void => {
    answer.destroy()
    end({ kind: 'away', reason })
  }
  let text = ''
  answer.setEncoding('utf8')
  answer.on('data', (piece: string) => {
    text += piece
    if (answer.statusCode !== OK)
      return text.length > LIVE_EVENT_CHARS_MAX ? away('the error response is incomplete') : undefined
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      if (signal.aborted) return
      const view = viewOf(event)
      if (view === 'other') return away('the node has a different version than this command')
      if (view !== null) onView(view)
    }
    if (text.length > LIVE_EVENT_CHARS_MAX) away('the node sent too much data at once')
  })
  answer.once('error', () => away('the connection was lost'))
  answer.once('close', () => away('the connection was lost'))
  answer.once('end', () =>
    end(
      answer.statusCode === OK
        ? { kind: 'away', reason: 'the node ended the live view' }
        : refusalOf(answer, text),
    ),
  )
}

const OK = 200
/** First digit of the statuses that blame the request. */
const CALLERS_FAULT = 4

/** A refusal that only a change of the request can solve: a retry would get the same response. */
function refusalOf({ statusCode = 0 }: IncomingMessage, text: string): LiveEnd {
  return {
    kind: Math.floor(statusCode / 100) === CALLERS_FAULT ? 'refused' : 'away',
    reason: messageIn(text) ?? `the node answered ${statusCode}`,
  }
}

/** Null for a comment, which only keeps the connection open. */
function viewOf(event: string): LiveView | 'other' | null {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n')
  if (data === '') return null
  const value = parsedJson(data)
  return CHECK.Check(value) ? value : 'other'
}

const CHECK = Compile(LiveView)
