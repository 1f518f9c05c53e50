/** Framing over real sockets: a provider that cuts its stream anywhere, and one whose stream is damaged. */
import { setImmediate as turn } from 'node:timers/promises'
import { randomFrom } from '../../../support/embeddings/random-answers.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import { streams, type FakeEnding } from '../../../support/inference/fake-stream.ts'
import { eventsOf } from '../../../support/inference/sse-reference.ts'
import type { Proof } from '../../proof.ts'
import { isStated, type ProvedDialect } from '../dialects/proved-dialect.ts'
import { Faults, together } from './faults.ts'
import { bodyIn, framed, framingsOf, type Framing } from './framings.ts'
import { mutated, piecesOf } from './mutations.ts'
import { HUNG, openStand, type ReadStream, type StreamStand } from './stream-stand.ts'

const AT_ONCE = 16
const WORDS = ['Hello', ' é€😀', '\n"quoted"\\', ' there']
/** How much of each form is tried over sockets. */
export interface SocketSize {
  /** Bytes between two cuts. */
  readonly step: number
  /** Framings in which a stream comes in single bytes; absent: all. */
  readonly singly?: number
  readonly mutated: number
}

/**
 * Milliseconds of the clocks of an answer: a stream in single bytes takes minutes on a machine that does ten
 * other things.
 */
const CLOCKS_MS = 600_000
/** The user's text names the case that the provider plays. */
const CASE = /case (-?\d+)\./

export async function overSockets(proof: Proof, dialect: ProvedDialect, size: SocketSize): Promise<void> {
  const firstProvider = { first_output_ms: CLOCKS_MS, stall_ms: CLOCKS_MS }
  const stand = await openStand({ providers: dialect.facts, firstProvider })
  proof.after(() => stand.close())
  await cuts({ proof, dialect, stand }, size)
  await damages({ proof, dialect, stand }, size.mutated)
  const heldBytes = await stand.rest()
  proof.check(`${dialect.name}, sockets: nothing is held at the end`, heldBytes === 0, `${heldBytes} bytes`)
  const open = stand.spend.holds.filter(({ end }) => end === 'open').length
  proof.check(`${dialect.name}, sockets: every call is settled`, open === 0, `${open} are not`)
}

interface Trying {
  readonly proof: Proof
  readonly dialect: ProvedDialect
  readonly stand: StreamStand
}

interface Cut {
  readonly framing: Framing
  readonly splitAt: readonly number[] | 'every byte'
}

async function cuts({ proof, dialect, stand }: Trying, { step, singly }: SocketSize): Promise<void> {
  const events = dialect.streamOf(WORDS)
  const framings = framingsOf(dialect)
  const from = proof.random(framings.length)
  const cases = framings.flatMap((framing, at): Cut[] => {
    const { length } = bodyIn(events, framing)
    const places = Array.from(
      { length: Math.ceil(length / step) },
      (_, nth) => nth * step + proof.random(step),
    )
    const isSingly = (at + from) % framings.length < (singly ?? framings.length)
    const single: Cut = { framing, splitAt: 'every byte' }
    return [...(isSingly ? [single] : []), ...places.map((place) => ({ framing, splitAt: [place] }))]
  })
  const plain = streams(events)
  const answers = cases.map(({ framing, splitAt }) =>
    streams(framed(events, framing), { ...framing.plan, splitAt }),
  )
  stand.first.usually((call, reply) => (answers[nthOf(call)] ?? plain)(call, reply))
  const call = (nth: number): Promise<ReadStream> =>
    stand.call(dialect, { model: 'acme/one', prompt: promptOf(nth) })
  const usual = await call(-1)
  const expected = dialect.masked(usual.text)
  const received = dialect.hear(usual.text)
  const faults = new Faults()
  if (received.text !== WORDS.join('') || !received.isTerminated || !usual.isComplete) faults.add(usual.text)
  await together([...cases.keys()], AT_ONCE, async (nth) => {
    const { text, isComplete } = await call(nth)
    if (isComplete && dialect.masked(text) === expected) return
    const { framing, splitAt } = cases[nth] ?? {}
    faults.add(`${framing?.name} at ${String(splitAt)}: ${text.slice(-300)}`)
  })
  proof.check(
    `${dialect.name}, sockets: the caller's stream is the same in every framing, wherever it is cut`,
    faults.isNone,
    faults.reported(cases.length),
  )
}

interface Damage {
  readonly body: Buffer
  readonly pieces: readonly Buffer[]
  readonly ending: FakeEnding
  readonly framing: 'chunked' | 'close'
}

async function damages({ proof, dialect, stand }: Trying, count: number): Promise<void> {
  const bodies = Object.values(dialect.recorded).flatMap((events) =>
    framingsOf(dialect).map((framing) => bodyIn(events, framing)),
  )
  const damageOf = (nth: number): Damage => {
    const random = randomFrom(proof.seed + nth)
    const pick = <T>(from: readonly T[], other: T): T => from[Math.floor(random() * from.length)] ?? other
    const body = mutated(random, pick(bodies, Buffer.of()), pick(bodies, Buffer.of()))
    const ending = pick<FakeEnding>(['whole', 'whole', 'fin', 'rst'], 'whole')
    const framing = pick<Damage['framing']>(['chunked', 'close'], 'chunked')
    return { body, pieces: piecesOf(random, body), ending, framing }
  }
  stand.first.usually((call, reply) => sends(damageOf(nthOf(call)))(call, reply))
  const [lies, hung, wrong] = [new Faults(), new Faults(), new Faults()]
  let whole = 0
  await together([...Array(count).keys()], AT_ONCE, async (nth) => {
    const read = await stand.call(dialect, { model: 'acme/one', prompt: promptOf(nth) })
    if (read === HUNG) return hung.add(`stream ${nth}`)
    const fault = faultOf(dialect, read)
    if (fault !== null) wrong.add(`stream ${nth}: ${fault}`)
    if (read.status !== 200 || !dialect.hear(read.text).isTerminated) return
    whole++
    const judged = dialect.judge(eventsOf(damageOf(nth).body))
    if (!judged.isFinished || !isStated(judged, dialect.hear(read.text).text)) lies.add(`stream ${nth}`)
  })
  const about = `${dialect.name}, sockets, mutated streams`
  proof.check(`${about}: none hangs`, hung.isNone, hung.reported(count))
  proof.check(`${about}: whole, or broken off and said so`, wrong.isNone, wrong.reported(count))
  proof.check(
    `${about}: no end behind what the provider did not finish`,
    lies.isNone && whole > 0 && whole < count,
    `${lies.reported(count)}; ${whole} whole`,
  )
}

/** Statuses of a call whose only endpoint failed before its first output. */
const FAILED = new Set([400, 429, 502, 503, 524, 529])

/** What is wrong with how a stream ended; null: nothing. */
function faultOf(dialect: ProvedDialect, { status, text, isComplete }: ReadStream): string | null {
  if (status !== 200) return FAILED.has(status) && isComplete ? null : `${status} ${text}`
  const { errors, isTerminated } = dialect.hear(text)
  const isWhole = isComplete && isTerminated && errors === 0
  const isBroken = !isComplete && !isTerminated && errors === 1
  return isWhole || isBroken ? null : JSON.stringify({ errors, isTerminated, isComplete, text })
}

function sends({ pieces, ending, framing }: Damage): FakeAnswer {
  return async (call, reply) => {
    const close = framing === 'close' ? { connection: 'close' } : {}
    await reply.head(200, { 'content-type': 'text/event-stream', ...close })
    for (const piece of pieces) {
      if (call.isClosed) return
      await reply.write(piece)
      await turn()
    }
    if (ending === 'rst') return reply.rst()
    if (ending === 'whole') await reply.end()
    if (ending === 'fin' || framing === 'close') reply.fin()
  }
}

function promptOf(nth: number): string {
  return `Play case ${nth}.`
}

function nthOf({ body }: FakeCall): number {
  return Number(CASE.exec(body.toString())?.[1] ?? -1)
}
