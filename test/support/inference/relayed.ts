/** A relay of one stream that a test feeds. */
import { mock } from 'node:test'
import type { Test } from 'tap'
import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../../src/schemas/models/provider-limits.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import { Drains, Relay, type RelayInput } from '../../../src/server/inference/relay.ts'
import { callerBy } from '../keys/callers.ts'
import type { NativeStream, PartStream } from '../../../src/dialects/parts.ts'

/** A body that the test feeds; a close ends a pending read, as the gate does. */
class FedBody {
  isClosed = false
  /** The provider has ended its answer: what is read next is its end, also once the body is closed. */
  hasCome = false
  #reader: ((next: Outcome<Uint8Array | null>) => void) | null = null

  next(): Promise<Outcome<Uint8Array | null>> {
    if (this.hasCome) return Promise.resolve(ok(null))
    if (this.isClosed) return Promise.resolve({ ok: false, failure: { name: 'client_gone' } })
    return new Promise((resolve) => (this.#reader = resolve))
  }

  async feed(text: string | null): Promise<void> {
    await turn()
    this.#reader?.(ok(text === null ? null : Buffer.from(text)))
    await turn()
  }

  close(): void {
    this.isClosed = true
    this.#reader?.({ ok: false, failure: { name: 'client_gone' } })
  }
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Passes bytes as events; `o` is an output, `f` ends it, `.` ends the stream, `:` is a comment. */
export function streamOf(): NativeStream & { hasOutput: boolean; isDone: boolean; awaitsUsage: boolean } {
  return {
    hasOutput: false,
    isDone: false,
    awaitsUsage: false,
    usage: null,
    outputBytes: 0,
    heldBytes: 0,
    finishReason: null,
    upstreamId: null,
    reported: {},
    finalEvents: null,
    read(bytes) {
      const text = Buffer.from(bytes).toString()
      this.hasOutput ||= text.includes('o')
      this.awaitsUsage ||= text.includes('f')
      this.isDone ||= text.includes('.')
      return { events: text === ':' ? null : bytes, failure: null }
    },
    end() {
      return this.isDone ? null : { name: 'upstream_failed' }
    },
  }
}

/** The same in parts; without a `.` it fails, with one its finish comes last. */
export function partStreamOf(): PartStream {
  let isWhole = false
  const { finalEvents: _, ...stream } = streamOf()
  return {
    ...stream,
    finalParts: [{ kind: 'finish', choice: 0, reason: 'stop', native: 'STOP', stopSequence: null }],
    read(bytes) {
      const text = Buffer.from(bytes).toString()
      isWhole ||= text.includes('.')
      return { parts: [{ kind: 'text', choice: 0, text }], failure: null }
    },
    get hasOutput() {
      return isWhole
    },
    end: () => (isWhole ? null : { name: 'upstream_failed' }),
  }
}

/** Timers stand still, and go on by `tick` alone. */
export function stopClock(t: Test): void {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
}

/** A budget without an end. */
export const FREE: RelayInput['budget'] = {
  isSpent: false,
  used: () => undefined,
  next: () => Promise.resolve(),
}

export function openRelayed(more: Partial<RelayInput> = {}) {
  const body = new FedBody()
  const leaving = new AbortController()
  const passed: string[] = []
  let hasRoom = true
  let roomy = (): void => undefined
  const relay = new Relay({
    body,
    stream: streamOf(),
    attempt: {
      sink: {
        take(parts) {
          passed.push(...parts.map((part) => ('text' in part ? part.text : part.kind)))
          return hasRoom
        },
        pass(events) {
          passed.push(Buffer.from(events).toString())
          return hasRoom
        },
        room: () => new Promise<void>((resolve) => (roomy = resolve)),
      },
      begin: () => void passed.push('begin'),
      mayChangeModel: () => false,
    },
    dropped: [],
    signal: leaving.signal,
    firstOutputMs: FIRST_OUTPUT_MS_DEFAULT,
    stallMs: STALL_MS_DEFAULT,
    onLeave: 'cancel',
    drains: new Drains(),
    room: new AnswerBudget(2 ** 20).room(callerBy('o')),
    budget: FREE,
    now: () => Date.now(),
    ...more,
  })
  return {
    body,
    passed,
    run: relay.run(),
    leave: () => leaving.abort(),
    block: () => (hasRoom = false),
    resume: () => {
      hasRoom = true
      roomy()
    },
  }
}
