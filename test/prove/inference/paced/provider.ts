/** A provider that writes a word at a steady pace, to very many calls at once, until it is ended. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PACED_PROTOCOLS, type PacedProtocol } from './dialects.ts'

/** What the provider does for a call, as JSON in the call's prompt. */
export interface Asked {
  readonly id: string
  /** Words until the end of the answer; left out: until `endAll`. */
  readonly words?: number
  /** Words after which it is silent, and does not end; left out: never. */
  readonly silentAt?: number
  /** What it says of its tokens; left out: the truth. */
  readonly usage?: 'missing' | 'zero' | 'negative' | 'huge'
}

/** One answer. */
export interface PacedAnswer {
  /** Tokens that were written, read or not. */
  generated: number
  /** `performance.now()` of the request. */
  readonly beganAt: number
  /** `performance.now()` of the end of its connection, or of the answer; null: it goes on. */
  endedAt: number | null
  /** The provider ended it. */
  isWhole: boolean
}

export interface PacedProvider {
  readonly origin: string
  readonly answers: ReadonlyMap<string, PacedAnswer>
  /** Answers that go on. */
  readonly open: number
  /** Ends all answers that go on. */
  endAll(): void
  close(): Promise<void>
}

interface Open extends PacedAnswer {
  readonly asked: Asked
  readonly protocol: PacedProtocol
  readonly res: ServerResponse
}

/** Thousands of words at once would keep callers waiting who are in this process too. */
const SLOTS = 5

/** @param wordMs milliseconds between two words of an answer */
export async function startPacedProvider(wordMs: number): Promise<PacedProvider> {
  const answers = new Map<string, PacedAnswer>()
  /** Those that go on; each writes in its own part of the time of a word. */
  const slots = Array.from({ length: SLOTS }, () => new Set<Open>())
  const forget = (one: Open): void => slots.forEach((slot) => slot.delete(one))
  const write = (one: Open): void => {
    const { words = Infinity, silentAt = Infinity } = one.asked
    if (one.generated >= words) return end(one)
    if (one.generated >= silentAt) return
    one.res.write(one.protocol.word(++one.generated))
  }
  const end = (one: Open): void => {
    one.isWhole = true
    forget(one)
    one.endedAt = performance.now()
    one.res.end(one.protocol.end(one.generated, reportedBy(one)))
  }
  const server = createServer((req, res) => {
    void requestOf(req).then(({ asked, protocol }) => {
      const one: Open = {
        asked,
        protocol,
        res,
        generated: 0,
        beganAt: performance.now(),
        endedAt: null,
        isWhole: false,
      }
      answers.set(asked.id, one)
      slots[answers.size % SLOTS]?.add(one)
      res.on('close', () => {
        forget(one)
        one.endedAt ??= performance.now()
      })
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(protocol.begin(asked.usage !== 'missing'))
    })
  }).listen(0, '127.0.0.1')
  let turn = 0
  const timer = setInterval(() => {
    for (const one of slots[turn++ % SLOTS] ?? []) write(one)
  }, wordMs / SLOTS)
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    get open() {
      return slots.reduce((sum, { size }) => sum + size, 0)
    },
    endAll() {
      for (const slot of slots) for (const one of [...slot]) end(one)
    },
    close: () =>
      new Promise((closed) => {
        clearInterval(timer)
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

interface Request {
  readonly asked: Asked
  readonly protocol: PacedProtocol
}

async function requestOf(req: IncomingMessage): Promise<Request> {
  const pieces: Buffer[] = []
  for await (const piece of req) pieces.push(piece as Buffer)
  const protocol = PACED_PROTOCOLS.find(({ path }) => req.url?.endsWith(path) === true)
  if (protocol === undefined) throw new Error(`no protocol has the path ${req.url}`)
  const body = JSON.parse(Buffer.concat(pieces).toString()) as Readonly<Record<string, unknown>>
  return { protocol, asked: JSON.parse(protocol.promptOf(body)) as Asked }
}

const LIES = { zero: 0, negative: -5, huge: 100_000 } as const

/** The tokens that it reports; null: none. */
function reportedBy({ asked: { usage }, generated }: Open): number | null {
  if (usage === 'missing') return null
  return usage === undefined ? generated : LIES[usage]
}
