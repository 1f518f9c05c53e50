/** A front with two fake providers that is opened and closed within a proof, and callers of its streams. */
import { DIALECTS as DIALECT_NAMES } from '../../../../src/schemas/inference/text-request.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import { AUTHORIZATION, OTHER_KEY } from '../../../support/front.ts'
import {
  openChatProvider,
  type ChatProviderFront,
  type ChatProviderOptions,
} from '../../../support/inference/chat-provider-front.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import type { Teardown } from '../../../support/teardown.ts'
import type { ProvedDialect } from '../dialects/proved-dialect.ts'

/** Of two callers, whose failures count together. */
export const CALLERS = [AUTHORIZATION, `Bearer ${OTHER_KEY}`] as const

export interface StreamStand extends ChatProviderFront {
  readonly spend: ReturnType<typeof keptSpend>
  /** Calls as a caller of the dialect does, and reads all of the answer. */
  call(dialect: ProvedDialect, more?: StreamCall): Promise<ReadStream>
  close(): Promise<void>
}

export interface StreamCall {
  readonly model?: string
  readonly caller?: string
  /** What the user says. */
  readonly prompt?: string
  /** Called with the bytes of each read. */
  readonly onBytes?: (text: string) => void
}

export interface ReadStream {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** HTTP itself said that the answer is complete. */
  readonly isComplete: boolean
}

/** Milliseconds after which a stream hangs: longer than any clock of the product would let it live. D17. */
const HANGING_MS = 1_200_000
export const HUNG: ReadStream = { status: 0, headers: new Headers(), text: '', isComplete: false }

/** Both providers speak every form natively. */
const providers = { speaks: DIALECT_NAMES }

export async function openStand(options: ChatProviderOptions = {}): Promise<StreamStand> {
  const closers: (() => Promise<void> | void)[] = []
  const scope: Teardown = { teardown: (done) => void closers.push(done) }
  const spend = keptSpend()
  // A clock that stands still would not keep the connection of a slow stream either.
  const front = await openChatProvider(scope, { spend, timers: new Timers(), providers, ...options })
  return {
    ...front,
    spend,
    call: (dialect, more = {}) => callOf(front.url, dialect, more),
    async close() {
      for (const close of closers.reverse()) await close()
    },
  }
}

async function callOf(url: string, dialect: ProvedDialect, more: StreamCall): Promise<ReadStream> {
  const { model = 'acme/chat', caller = AUTHORIZATION, prompt, onBytes = () => undefined } = more
  const hanging = new AbortController()
  const timer = setTimeout(() => hanging.abort(), HANGING_MS)
  try {
    const response = await fetch(`${url}/api/v1${dialect.path}`, {
      method: 'POST',
      headers: { authorization: caller, 'content-type': 'application/json' },
      body: JSON.stringify(dialect.request(model, prompt)),
      signal: hanging.signal,
    })
    const { status, headers } = response
    const read = await readOf(response, onBytes)
    return hanging.signal.aborted ? HUNG : { status, headers, ...read }
  } catch (broken) {
    if (hanging.signal.aborted) return HUNG
    throw broken
  } finally {
    clearTimeout(timer)
  }
}

async function readOf(
  response: Response,
  onBytes: (text: string) => void,
): Promise<Pick<ReadStream, 'text' | 'isComplete'>> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let text = ''
  for (;;) {
    const next = await reader?.read().catch(() => null)
    if (next === null) return { text, isComplete: false }
    if (next === undefined || next.done) return { text, isComplete: true }
    const read = decoder.decode(next.value as Uint8Array, { stream: true })
    text += read
    onBytes(read)
  }
}
