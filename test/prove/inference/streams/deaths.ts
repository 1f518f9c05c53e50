/** The ways in which a provider dies in its stream, as data: where, how, and what the caller has to get. */
import type { FakeAnswer, FakeProvider } from '../../../support/inference/fake-provider.ts'
import { bodyOf, streams, type FakeEnding } from '../../../support/inference/fake-stream.ts'
import type { ProvedDialect } from '../dialects/proved-dialect.ts'

/** How a provider dies. `in order`: as HTTP ends a response, which proves nothing. */
export const ENDINGS = ['FIN', 'RST', 'stall', 'in order'] as const
export type Ending = (typeof ENDINGS)[number]

/**
 * What the caller gets: the answer of another endpoint, as if the first had not been; D21's event, once, in
 * a response without its end; the whole answer.
 */
export type Fate = 'another answers' | 'told' | 'whole'

export interface Death {
  readonly point: string
  readonly ending: Ending
  readonly fate: Fate
  /** The head leaves at once, and falling back goes on behind it. D15. */
  readonly isHeadEarly: boolean
  /** What the caller has in hand of the provider's words. */
  readonly text: string
  /** Makes the provider die so in each call. */
  meets(provider: FakeProvider): void
}

/** A head that is not whole, and that a parser has begun to read. */
const HALF_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-str'
const FAKE_ENDINGS: Readonly<Record<Ending, FakeEnding>> = {
  FIN: 'fin',
  RST: 'rst',
  stall: 'silent',
  'in order': 'whole',
}

/** @param words four at least; the third has a character of several bytes. D18, D21, D22. */
export function deathsOf(dialect: ProvedDialect, words: readonly string[]): readonly Death[] {
  const events = dialect.streamOf(words)
  const { begin, firstOutput, finish, usage, terminator } = dialect.placesOf(words)
  const endOf = (nth: number): number => bodyOf(events.slice(0, nth + 1)).length
  const third = endOf(firstOutput + 1)
  const cuts: Readonly<Record<string, readonly [at: number, words: number, fate: Fate]>> = {
    'begin of the answer': [endOf(begin), 0, 'another answers'],
    'first output': [endOf(firstOutput), 1, 'told'],
    'between events': [third, 2, 'told'],
    'inside an event': [Math.floor((third + endOf(firstOutput + 2)) / 2), 2, 'told'],
    'inside a character': [third + wideAt(bodyOf(events).subarray(third)), 2, 'told'],
    'after finish_reason': [endOf(finish), words.length, 'told'],
    'after usage': [endOf(usage), words.length, 'told'],
    'after the terminator': [endOf(terminator), words.length, 'whole'],
  }
  const deaths = [
    ...before('connect', (ending) => (provider) => provider.meets(WELCOMES[ending])),
    ...before('head', (ending) => (provider) => provider.usually(dyingInHead(ending))),
    ...Object.entries(cuts).flatMap(([point, [cutAt, heard, fate]]) =>
      ENDINGS.map((ending): Death => ({
        point,
        ending,
        isHeadEarly: false,
        // Behind the last word an end in order is the end of the answer. D22.
        fate: ending === 'in order' && heard === words.length && dialect.endsInOrder ? 'whole' : fate,
        text: words.slice(0, heard).join(''),
        meets: (provider) => provider.usually(streams(events, { cutAt, ending: FAKE_ENDINGS[ending] })),
      })),
    ),
  ]
  const early = deaths
    .filter(({ fate }) => fate === 'another answers')
    .map((death) => ({ ...death, point: `${death.point}, behind an early head`, isHeadEarly: true }))
  return [...deaths, ...early]
}

type HardEnding = Exclude<Ending, 'in order'>
const WELCOMES = { FIN: 'fin', RST: 'rst', stall: 'stall' } as const

/** Deaths before anything of a response is there, which cannot be in order. */
function before(point: string, meets: (ending: HardEnding) => Death['meets']): readonly Death[] {
  return (['FIN', 'RST', 'stall'] as const).map((ending) => ({
    point,
    ending,
    isHeadEarly: false,
    fate: 'another answers',
    text: '',
    meets: meets(ending),
  }))
}

function dyingInHead(ending: HardEnding): FakeAnswer {
  return async (call, reply) => {
    await reply.raw(HALF_HEAD)
    if (ending === 'stall') return call.closed
    if (ending === 'FIN') reply.fin()
    else reply.rst()
  }
}

/** The place within the first character of four bytes. */
function wideAt(bytes: Buffer): number {
  const at = bytes.findIndex((byte) => byte >= 0xf0)
  if (at === -1) throw new Error('no character of four bytes')
  return at + 2
}
