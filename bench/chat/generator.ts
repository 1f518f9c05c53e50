/**
 * Reads many streams at once and counts their events; each connection begins its next stream when one is over.
 * It tells its parent when counting begins and ends.
 */
import { connect, type Socket } from 'node:net'
import type { FormFacts } from './forms.ts'

export interface GeneratorSettings {
  readonly port: number
  readonly connections: number
  readonly warmUpMs: number
  readonly durationMs: number
  /** The whole request, head and body. */
  readonly request: string
  /** Bytes of the first event with text, and of the last event. */
  readonly marks: Pick<FormFacts, 'text' | 'done'>
}

export interface StreamFigures {
  readonly events: number
  /** Milliseconds from a request to its first event with text. */
  readonly firstMs: readonly number[]
  /** Milliseconds between reads of one stream. */
  readonly gapsMs: readonly number[]
  readonly failures: readonly string[]
  /** CPU of this process over the time counted. */
  readonly cores: number
}

const FEED = 0x0a
/** The last chunk of HTTP. */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')
/** Gaps that are kept; of more every nth would do, and a run has fewer. */
const GAPS_MAX = 2_000_000

class Counter {
  events = 0
  readonly firstMs: number[] = []
  readonly gapsMs: number[] = []
  readonly failures: string[] = []
  isCounting = false

  gap(ms: number): void {
    if (this.isCounting && this.gapsMs.length < GAPS_MAX) this.gapsMs.push(ms)
  }
}

class StreamReader {
  readonly #socket: Socket
  readonly #request: string
  readonly #text: Buffer
  readonly #done: Buffer
  readonly #counter: Counter
  #askedAt = 0
  #readAt = 0
  #hasText = false
  #isDone = false
  #wasFeed = false
  #tail = Buffer.alloc(0)

  constructor({ port, request, marks }: GeneratorSettings, counter: Counter) {
    this.#request = request
    this.#text = Buffer.from(marks.text)
    this.#done = Buffer.from(marks.done)
    this.#counter = counter
    this.#socket = connect(port, '127.0.0.1', () => this.#ask()).setNoDelay(true)
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', (error) => counter.failures.push(error.message))
    this.#socket.on('close', () => counter.isCounting && counter.failures.push('closed'))
  }

  stop(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  #ask(): void {
    this.#askedAt = performance.now()
    this.#readAt = 0
    this.#hasText = false
    this.#isDone = false
    this.#socket.write(this.#request)
  }

  #read(bytes: Buffer): void {
    const now = performance.now()
    const counter = this.#counter
    if (this.#readAt === 0 && bytes.subarray(0, 12).toString('latin1') !== 'HTTP/1.1 200')
      counter.failures.push(bytes.subarray(0, 32).toString('latin1'))
    if (this.#readAt > 0) counter.gap(now - this.#readAt)
    this.#readAt = now
    if (counter.isCounting) counter.events += this.#eventsIn(bytes)
    if (!this.#hasText && bytes.includes(this.#text)) {
      this.#hasText = true
      if (counter.isCounting) counter.firstMs.push(now - this.#askedAt)
    }
    // Both marks may lie across two reads.
    const joined = Buffer.concat([this.#tail, bytes.subarray(-64)])
    this.#isDone ||= joined.includes(this.#done) || bytes.includes(this.#done)
    this.#tail = joined.subarray(-32)
    if (this.#isDone && joined.includes(LAST_CHUNK)) {
      this.#tail = Buffer.alloc(0)
      this.#ask()
    }
  }

  /** Empty lines: one behind each event, since data has no line feeds. */
  #eventsIn(bytes: Buffer): number {
    let count = 0
    let before = this.#wasFeed ? -1 : -2
    for (let at = bytes.indexOf(FEED); at >= 0; at = bytes.indexOf(FEED, at + 1)) {
      if (at === before + 1) count++
      before = at
    }
    this.#wasFeed = before === bytes.length - 1
    return count
  }
}

async function run(settings: GeneratorSettings): Promise<void> {
  const counter = new Counter()
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const readers: StreamReader[] = []
  // Streams that begin together would be read together, all of them in one turn.
  for (let nth = 0; nth < settings.connections; nth++) {
    readers.push(new StreamReader(settings, counter))
    await pause(settings.warmUpMs / 2 / settings.connections)
  }
  await pause(settings.warmUpMs / 2)
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()]
  counter.isCounting = true
  process.send?.('counting')
  await pause(settings.durationMs)
  counter.isCounting = false
  const { user, system } = process.cpuUsage(cpu)
  const cores = (user + system) / 1_000 / (performance.now() - startedAt)
  const { events, firstMs, gapsMs, failures } = counter
  const figures: StreamFigures = { events, firstMs, gapsMs, failures: failures.slice(0, 3), cores }
  process.send?.(figures)
  for (const reader of readers) reader.stop()
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: GeneratorSettings) => {
  process.send?.('ready')
  void run(settings)
})
