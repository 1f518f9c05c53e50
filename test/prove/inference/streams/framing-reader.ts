/** Framing in process: the reader of a provider's stream, byte by byte and mutated. */
import { randomFrom } from '../../../support/embeddings/random-answers.ts'
import { bodyOf } from '../../../support/inference/fake-stream.ts'
import { eventsOf } from '../../../support/inference/sse-reference.ts'
import type { Proof } from '../../proof.ts'
import { isStated, type ProvedDialect } from '../dialects/proved-dialect.ts'
import { Faults } from './faults.ts'
import { bodyIn, framingsOf } from './framings.ts'
import { mutated, piecesOf } from './mutations.ts'
import type { NativeStream } from '../../../../src/dialects/parts.ts'

/** How much of each form is tried in process. */
export interface ReaderSize {
  /** Recorded streams that are cut; absent: all. */
  readonly streams?: number
  /** Cuts of such a stream in each framing; absent: one at every byte. */
  readonly cuts?: number
  readonly mutated: number
}

/** Microseconds of CPU of one stream of a few KiB, the compiler of the runtime included. */
const STREAM_CPU_US_MAX = 2_000_000
const SAID_EACHOnce = 100_000

export function inProcess(proof: Proof, dialect: ProvedDialect, size: ReaderSize): void {
  everyByte(proof, dialect, size)
  unended(proof, dialect)
  mutations(proof, dialect, size.mutated)
}

function everyByte(proof: Proof, dialect: ProvedDialect, { streams: count, cuts }: ReaderSize): void {
  const faults = new Faults()
  let tried = 0
  const recorded = Object.entries(dialect.recorded)
  const from = proof.random(recorded.length)
  const streams = count === undefined ? recorded : [...recorded, ...recorded].slice(from, from + count)
  for (const [name, events] of streams) {
    const expected = outcomeOf(dialect, [bodyOf(events)])
    if (!expected.endsWith('whole')) faults.add(`${name}: ${expected.slice(-200)}`)
    for (const framing of framingsOf(dialect)) {
      const body = bodyIn(events, framing)
      const look = (where: string, pieces: readonly Buffer[]): void => {
        tried++
        if (outcomeOf(dialect, pieces) !== expected) faults.add(`${name}, ${framing.name}, ${where}`)
      }
      look(
        'single bytes',
        Array.from(body, (_, at) => body.subarray(at, at + 1)),
      )
      const step = cuts === undefined ? 1 : Math.ceil(body.length / cuts)
      for (let at = proof.random(step); at <= body.length; at += step)
        look(`cut at ${at}`, [body.subarray(0, at), body.subarray(at)])
    }
  }
  proof.check(
    `${dialect.name}, reader: the same bytes in every framing, cut at every byte`,
    faults.isNone,
    faults.reported(tried),
  )
}

/** An event without the empty line after it does not count, by the standard. */
function unended(proof: Proof, dialect: ProvedDialect): void {
  const faults = new Faults()
  const recorded = Object.entries(dialect.recorded)
  for (const [name, events] of recorded) {
    const expected = outcomeOf(dialect, [bodyOf(events.slice(0, -1))])
    for (const lineEnd of ['\n', '\r', '\r\n'] as const) {
      const body = bodyOf(events, { lineEnd, isTerminated: false })
      for (const last of ['', lineEnd])
        if (outcomeOf(dialect, [body, Buffer.from(last)]) !== expected)
          faults.add(`${name}, ${JSON.stringify(lineEnd)}, ${JSON.stringify(last)}`)
    }
  }
  proof.check(
    `${dialect.name}, reader: a last event without its empty line does not count`,
    faults.isNone,
    faults.reported(recorded.length),
  )
}

/** What a stream in these reads gives, and how it ends, as one text. */
function outcomeOf(dialect: ProvedDialect, pieces: readonly Buffer[]): string {
  const stream = dialect.open()
  const given: Uint8Array[] = []
  for (const piece of pieces) {
    // The memory of a read is used again for the next one.
    const own = Buffer.from(piece)
    const { events } = stream.read(own)
    if (events !== null) given.push(Uint8Array.from(events))
    own.fill(0x21)
  }
  const end = stream.end()
  given.push(...lastOf(stream))
  const { usage, outputBytes, isDone } = stream
  const logged = JSON.stringify({ usage, outputBytes, isDone })
  return `${Buffer.concat(given).toString('latin1')}${logged} ${end === null ? 'whole' : end.name}`
}

/** The events that a whole stream keeps back. */
function lastOf({ finalEvents }: NativeStream): readonly Uint8Array[] {
  return finalEvents?.withUsage({ whole: '{}', added: '"cost":0' }) ?? []
}

function mutations(proof: Proof, dialect: ProvedDialect, count: number): void {
  const bodies = Object.values(dialect.recorded).flatMap((events) =>
    framingsOf(dialect).map((framing) => bodyIn(events, framing)),
  )
  const [lies, shapes, slow] = [new Faults(), new Faults(), new Faults()]
  let whole = 0
  for (let nth = 0; nth < count; nth++) {
    const random = randomFrom(proof.seed + nth)
    const pick = (): Buffer => bodies[Math.floor(random() * bodies.length)] ?? Buffer.of()
    const body = mutated(random, pick(), pick())
    const before = process.cpuUsage()
    const found = readMutated(dialect, body, piecesOf(random, body))
    const named = `stream ${nth}`
    const { user, system } = process.cpuUsage(before)
    if (user + system > STREAM_CPU_US_MAX) slow.add(named)
    if (found.isWhole) whole++
    if (found.lie !== null) lies.add(`${named}: ${found.lie}`)
    if (found.shape !== null) shapes.add(`${named}: ${found.shape}`)
    if ((nth + 1) % SAID_EACHOnce === 0) proof.say(`${nth + 1} mutated streams, ${whole} of them whole`)
  }
  const about = `${dialect.name}, reader, mutated streams`
  proof.check(`${about}: none hangs`, slow.isNone, slow.reported(count))
  proof.check(`${about}: no crash, and events in order alone`, shapes.isNone, shapes.reported(count))
  proof.check(
    `${about}: never whole where the provider did not finish, never other words`,
    lies.isNone && whole > 0 && whole < count,
    `${lies.reported(count)}; ${whole.toLocaleString('en')} whole`,
  )
}

interface ReadMutation {
  readonly isWhole: boolean
  /** A whole stream that the provider did not send. */
  readonly lie: string | null
  /** Something that is not an event of the dialect, or a crash. */
  readonly shape: string | null
}

function readMutated(dialect: ProvedDialect, body: Buffer, pieces: readonly Buffer[]): ReadMutation {
  const stream = dialect.open()
  const given: Uint8Array[] = []
  try {
    for (const piece of pieces) {
      const { events, failure } = stream.read(piece)
      if (events !== null) given.push(Uint8Array.from(events))
      if (failure !== null || stream.isDone) break
    }
  } catch (bug) {
    return { isWhole: false, lie: null, shape: `${String(bug)} ${body.toString('base64')}` }
  }
  const isWhole = stream.end() === null
  given.push(...lastOf(stream))
  const text = Buffer.concat(given).toString()
  const shape = shapeOf(text)
  const judged = dialect.judge(eventsOf(body))
  const received = shape === null ? dialect.hear(text).text : judged.text
  const isLie = isWhole && !(judged.isFinished && isStated(judged, received))
  return {
    isWhole,
    lie: isLie ? `${judged.isFinished} ${body.toString('base64')}` : null,
    shape: shape === null ? null : `${shape} ${body.toString('base64')}`,
  }
}

const LINE = /^(?:event: \w[\w.-]*\n)?data: (\{[^\n\r]*\})$/

/** Null: each event has one line of JSON, an object, and no event is a terminator of the dialect. */
function shapeOf(text: string): string | null {
  const events = text.split('\n\n')
  if (events.pop() !== '') return 'an event without an end'
  for (const event of events) {
    const json = LINE.exec(event)?.[1]
    if (json === undefined) return `no event: ${event.slice(0, 80)}`
    try {
      JSON.parse(json)
    } catch {
      return `no JSON: ${event.slice(0, 80)}`
    }
  }
  return null
}
