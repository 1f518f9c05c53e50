/** A provider that sends an event only when the caller has the one before: whatever waits, waits for ever. */
import { Steps, streams } from '../../../support/inference/fake-stream.ts'
import { median, type Proof } from '../../proof.ts'
import type { ProvedDialect } from '../dialects/proved-dialect.ts'
import { Faults, together } from './faults.ts'
import { framed, FRAMINGS, type Framing } from './framings.ts'
import { openStand, type StreamStand } from './stream-stand.ts'

const EVENTS = 1_000
/** Of each framing but the first, in the short form. */
const EVENTS_SHORT = 50
/** Callers at once, whose streams must not wait for each other either. */
const CALLERS = 8
/** Milliseconds from the provider's write to the caller's read. */
const DELAY_MS_MAX = 5

export async function lockstep(proof: Proof, dialect: ProvedDialect): Promise<void> {
  const stand = await openStand()
  proof.after(() => stand.close())
  const faults = new Faults()
  const delays: number[] = []
  let tried = 0
  const run = async (framing: Framing, words: number): Promise<void> => {
    tried++
    const fault = await oneStream(stand, dialect, { framing, words, delays })
    if (fault !== null) faults.add(`${framing.name}: ${fault}`)
  }
  for (const [nth, framing] of FRAMINGS.entries())
    await run(framing, proof.isShort && nth > 0 ? EVENTS_SHORT : EVENTS)
  const count = proof.isShort ? EVENTS_SHORT : EVENTS
  const plain = FRAMINGS.slice(0, 1)
  await together(Array.from({ length: CALLERS }, () => plain).flat(), CALLERS, (framing) =>
    run(framing, count),
  )
  proof.check(
    `${dialect.name}: every event reaches the caller before the provider sends the next one`,
    faults.isNone,
    `${faults.reported(tried)}, ${delays.length.toLocaleString('en')} events`,
  )
  const delayMs = median(delays)
  proof.checkTimed(
    `${dialect.name}: from the provider to the caller in ${DELAY_MS_MAX} ms, median`,
    delayMs <= DELAY_MS_MAX,
    `${delayMs.toFixed(2)} ms`,
  )
}

interface Stepping {
  readonly framing: Framing
  readonly words: number
  readonly delays: number[]
}

/** @returns what is wrong with the stream, or null */
async function oneStream(
  stand: StreamStand,
  dialect: ProvedDialect,
  { framing, words: count, delays }: Stepping,
): Promise<string | null> {
  const words = Array.from({ length: count }, (_, nth) => ` w${nth}é`)
  const events = framed(dialect.streamOf(words), framing)
  const { firstOutput, finish, held = finish + 1 } = dialect.placesOf(words)
  const steps = new Steps()
  stand.first.script(streams(events, { ...framing.plan, steps }))
  let had = 0
  let allowed = 0
  let allowedAt = 0
  let tail = ''
  const allow = (until: number): void => {
    allowedAt = performance.now()
    steps.allow(until - allowed)
    allowed = until
  }
  // Nothing of an answer leaves before its first output. D18.
  allow(firstOutput + 1)
  const read = await stand.call(dialect, {
    onBytes: (text) => {
      const whole = tail + text
      had += whole.split('\n\n').length - 1
      tail = whole.endsWith('\n\n') ? '' : whole.slice(-1)
      if (had < allowed) return
      delays.push(performance.now() - allowedAt)
      // After the last word the caller gets the end in another form than the provider's.
      allow(had >= held ? events.length + 1 : had + 1)
    },
  })
  const received = dialect.hear(read.text)
  if (received.text === words.join('') && received.isTerminated && read.isComplete) return null
  return `stopped behind ${had} of ${events.length} events, ${read.isComplete ? 'ended' : 'cut'}`
}
