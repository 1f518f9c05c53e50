/** A provider that is silent: the stream lives and says so, until the clocks of D17 end what is late. */
import { setTimeout as sleep } from 'node:timers/promises'
import { STREAM_HOLD_MS_DEFAULT, STREAM_SILENCE_MS } from '../../../../src/schemas/inference/stream-limits.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../../../src/schemas/models/provider-limits.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import { NO_STREAM_METERS } from '../../../support/inference/chat-front.ts'
import type { FakeAnswer, FakeReply } from '../../../support/inference/fake-provider.ts'
import { bodyOf, streams, type FakeEvent } from '../../../support/inference/fake-stream.ts'
import type { Proof } from '../../proof.ts'
import type { ProvedDialect } from '../dialects/proved-dialect.ts'
import { openStand, type ReadStream, type StreamStand } from './stream-stand.ts'

/** Times as fast: in the short form every clock of the product and of the provider. */
const SPEED = { full: 1, short: 8 }
const SILENT_MS = 90_000
/** Beyond every clock. */
const LATE_MS = 150_000
/** Milliseconds between comments of a provider that sends some. */
const COMMENT_MS = 7_000
/**
 * Comments of a silence that a machine must manage, however busy; eight to nine are due. In short some
 * seconds in which nothing runs cost as many.
 */
const COMMENTS_MIN = { full: 5, short: 3 }
/** Milliseconds of the longest time without a byte, a step of the front's timers and some more included. */
const GAP_MS_MAX = 12_000
/** By so much a timer of Node may be early. */
const TIMER_MS = 2
const WORDS = ['One', ' twö', ' three']
const COMMENT = ': KEEP-ALIVE\n\n'

export async function silence(proof: Proof, dialect: ProvedDialect): Promise<void> {
  const speed = proof.isShort ? SPEED.short : SPEED.full
  await Promise.all([
    lives(proof, dialect, {
      speed,
      name: 'a silent provider',
      isCommenting: false,
      stallMs: STALL_MS_DEFAULT,
    }),
    lives(proof, dialect, {
      ...{ speed, name: 'a provider of comments alone', isCommenting: true, stallMs: STALL_MS_DEFAULT },
    }),
    thinks(proof, dialect, speed),
    isLate(proof, dialect, { speed, isCommenting: false }),
    isLate(proof, dialect, { speed, isCommenting: true }),
  ])
}

interface Clocks {
  readonly speed: number
  readonly firstOutputMs?: number
  readonly stallMs?: number
  /** Gets what the metrics take for the time to the first output. */
  readonly committed?: (ms: number) => void
}

async function standAt(
  proof: Proof,
  { speed, firstOutputMs = FIRST_OUTPUT_MS_DEFAULT, stallMs = STALL_MS_DEFAULT, committed }: Clocks,
): Promise<StreamStand> {
  const stand = await openStand({
    streams: { of: (by) => ({ ...NO_STREAM_METERS.of(by), committed: ({ ms }) => committed?.(ms) }) },
    timers: new Timers(() => performance.now() * speed),
    streamHoldMs: STREAM_HOLD_MS_DEFAULT / speed,
    firstProvider: { first_output_ms: firstOutputMs / speed, stall_ms: stallMs / speed },
  })
  proof.after(() => stand.close())
  return stand
}

interface Silence extends Clocks {
  readonly name: string
  readonly isCommenting: boolean
}

/** 90 s before the first output, and 90 s after it. */
async function lives(proof: Proof, dialect: ProvedDialect, silence: Silence): Promise<void> {
  const { speed, name } = silence
  let reportedMs = NaN
  const stand = await standAt(proof, { ...silence, committed: (ms) => (reportedMs = ms) })
  const events = dialect.streamOf(WORDS)
  const { firstOutput } = dialect.placesOf(WORDS)
  const [begin, rest] = [events.slice(0, firstOutput + 1), events.slice(firstOutput + 1)]
  const pause = pauseOf(silence)
  stand.first.script(pausing([[], begin, rest], pause))
  const clock = new Gaps()
  const read = await stand.call(dialect, { onBytes: clock.onBytes })
  const isWhole = isWholeOf(dialect, read)
  const firstAt = read.text.search(/^data: .*One/m)
  const parts = firstAt === -1 ? [] : [read.text.slice(0, firstAt), read.text.slice(firstAt)]
  const counts = parts.map((part) => dialect.hear(part).silences)
  const least = proof.isShort ? COMMENTS_MIN.short : COMMENTS_MIN.full
  const about = `${dialect.name}, ${name}`
  proof.check(
    `${about}: the stream lives for 90 s before and 90 s behind its first output`,
    isWhole,
    isWhole ? 'whole' : JSON.stringify(read),
  )
  proof.check(
    `${about}: a comment each ${STREAM_SILENCE_MS / 1_000} s, before and behind`,
    counts.length === 2 && counts.every((count) => count >= least),
    counts.join(' and '),
  )
  proof.check(
    `${about}: the time to the first output that is told is the caller's`,
    reportedMs >= SILENT_MS / speed - TIMER_MS && reportedMs <= clock.firstWordMs,
    `${((reportedMs * speed) / 1_000).toFixed(1)} s of ${((clock.firstWordMs * speed) / 1_000).toFixed(1)} s`,
  )
  const gapMs = clock.longestMs * speed
  proof.checkTimed(
    `${about}: never ${GAP_MS_MAX / 1_000} s without a byte`,
    gapMs <= GAP_MS_MAX,
    `${(gapMs / 1_000).toFixed(1)} s`,
  )
}

/** A model that thinks longer before its first output than any later event may take. D17. */
async function thinks(proof: Proof, dialect: ProvedDialect, speed: number): Promise<void> {
  const stand = await standAt(proof, { speed, stallMs: SILENT_MS / 3 })
  const pause = pauseOf({ speed, isCommenting: false })
  stand.first.script(pausing([[], dialect.streamOf(WORDS)], pause))
  const read = await stand.call(dialect)
  proof.check(
    `${dialect.name}: the clock between events does not run before the first one`,
    isWholeOf(dialect, read) && stand.first.calls.length === 1 && stand.second.calls.length === 0,
    `${stand.second.calls.length} calls of another endpoint`,
  )
}

/** Silent for longer than D17 allows: the same clocks do end a stream, comments or not. */
async function isLate(
  proof: Proof,
  dialect: ProvedDialect,
  { speed, isCommenting }: { readonly speed: number; readonly isCommenting: boolean },
): Promise<void> {
  const stand = await standAt(proof, { speed })
  const events = dialect.streamOf(WORDS)
  const { firstOutput } = dialect.placesOf(WORDS)
  const pause = pauseOf({ speed, isCommenting, silentMs: LATE_MS })
  const late = pausing([events.slice(0, firstOutput), events.slice(firstOutput)], pause)
  const stalled = pausing([events.slice(0, firstOutput + 1), events.slice(firstOutput + 1)], pause)
  stand.first.script(late, stalled)
  stand.second.usually(streams(events))
  const before = stand.call(dialect)
  await stand.first.arrived(0)
  const [fallen, answer] = await Promise.all([before, stand.call(dialect)])
  const received = dialect.hear(answer.text)
  const isReported =
    !answer.isComplete && received.errors === 1 && received.text === WORDS[0] && !received.isTerminated
  const isFallen = fallen.isComplete && dialect.hear(fallen.text).isTerminated
  const silent = `${FIRST_OUTPUT_MS_DEFAULT / 1_000} s of ${isCommenting ? 'comments alone' : 'silence'}`
  proof.check(
    `${dialect.name}: behind ${silent} another answers, or the caller is told`,
    isFallen && isReported && stand.second.calls.length === 1,
    `${isFallen ? 'another answers' : fallen.text}; ${isReported ? 'told' : answer.text}`,
  )
}

function isWholeOf(dialect: ProvedDialect, { status, text, isComplete }: ReadStream): boolean {
  const received = dialect.hear(text)
  return status === 200 && isComplete && received.isTerminated && received.text === WORDS.join('')
}

type Pause = (reply: FakeReply) => Promise<void>

function pauseOf({
  speed,
  isCommenting,
  silentMs = SILENT_MS,
}: {
  readonly speed: number
  readonly isCommenting: boolean
  readonly silentMs?: number
}): Pause {
  return async (reply) => {
    const stepMs = (isCommenting ? COMMENT_MS : silentMs) / speed
    // By the clock: the lateness of one sleep makes the next one shorter.
    const endsAt = performance.now() + silentMs / speed
    for (let leftMs = silentMs / speed; leftMs > 0; leftMs = endsAt - performance.now()) {
      await sleep(Math.min(stepMs, leftMs))
      if (isCommenting) await reply.write(COMMENT)
    }
  }
}

/** Sends the head, and these events with a pause between two groups. */
function pausing(groups: readonly (readonly FakeEvent[])[], pause: Pause): FakeAnswer {
  return async (call, reply) => {
    await reply.head(200, { 'content-type': 'text/event-stream' })
    for (const [nth, events] of groups.entries()) {
      if (nth > 0) await pause(reply)
      if (call.isClosed) return
      await reply.write(bodyOf(events))
    }
    await reply.end()
  }
}

/** The longest time between two reads, and the time to the first word. */
class Gaps {
  longestMs = 0
  firstWordMs = NaN
  readonly #startedAt = performance.now()
  #at = this.#startedAt

  readonly onBytes = (text: string): void => {
    const now = performance.now()
    if (Number.isNaN(this.firstWordMs) && text.includes('One')) this.firstWordMs = now - this.#startedAt
    this.longestMs = Math.max(this.longestMs, now - this.#at)
    this.#at = now
  }
}
