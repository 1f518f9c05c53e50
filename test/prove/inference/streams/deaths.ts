/** The ways in which a provider dies in its stream, as data: where, how, and what the caller has to get. */
import type { FakeAnswer, FakeProvider } from '../../../support/inference/fake-provider.ts'
import { bodyOf, streams, type FakeEnding, type FakeEvent } from '../../../support/inference/fake-stream.ts'
import type { EventPlaces, ProviderSide } from '../dialects/proved-dialect.ts'

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
  /** The head leaves at once, and falling back continues after it. D15. */
  readonly isHeadEarly: boolean
  /** What the caller has in hand of the provider's words. */
  readonly text: string
  /** Whole events that the provider has sent. */
  readonly sent: readonly FakeEvent[]
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

type Dying = Pick<ProviderSide, 'streamOf' | 'placesOf' | 'endsInOrder'>

export interface DeathsInput {
  /** At least four; the third has a character of several bytes. */
  readonly words: readonly string[]
  /** After each event, too. */
  readonly isEachEvent: boolean
}

/** A place in the body, and the last event that is whole before it. */
interface Cut {
  readonly at: number
  readonly last: number
}

/** D18, D21, D22. */
export function deathsOf(provider: Dying, { words, isEachEvent }: DeathsInput): readonly Death[] {
  const events = provider.streamOf(words)
  const places = provider.placesOf(words)
  const cuts = cutsOf(events, places)
  const named = Object.values(cuts).map(({ last }) => last)
  const others = [...events.keys()].filter((last) => isEachEvent && !named.includes(last))
  const all = {
    ...cuts,
    ...Object.fromEntries(others.map((last) => [`event ${last + 1}`, behind(events, last)])),
  }
  const deaths = [
    ...before('connect', (ending) => (met) => met.meets(WELCOMES[ending])),
    ...before('head', (ending) => (met) => met.usually(dyingInHead(ending))),
    ...Object.entries(all).flatMap(([point, { at: cutAt, last }]) =>
      ENDINGS.map((ending): Death => ({
        point,
        ending,
        isHeadEarly: false,
        fate: fateOf({ last, isEnd: ending === 'in order' && provider.endsInOrder }, places),
        text: words.slice(0, Math.max(0, last - places.firstOutput + 1)).join(''),
        sent: events.slice(0, last + 1),
        meets: (met) => met.usually(streams(events, { cutAt, ending: FAKE_ENDINGS[ending] })),
      })),
    ),
  ]
  const early = deaths
    .filter(({ fate }) => fate === 'another answers')
    .map((death) => ({ ...death, point: `${death.point}, behind an early head`, isHeadEarly: true }))
  return [...deaths, ...early]
}

function behind(events: readonly FakeEvent[], last: number): Cut {
  return { at: bodyOf(events.slice(0, last + 1)).length, last }
}

/** Places with a name. */
function cutsOf(
  events: readonly FakeEvent[],
  { begin, firstOutput, finish, usage, terminator }: EventPlaces,
): Readonly<Record<string, Cut>> {
  const second = behind(events, firstOutput + 1)
  const third = behind(events, firstOutput + 2)
  return {
    'begin of the answer': behind(events, begin),
    'first output': behind(events, firstOutput),
    'between events': second,
    'inside an event': { ...second, at: Math.floor((second.at + third.at) / 2) },
    'inside a character': { ...second, at: second.at + wideAt(bodyOf(events).subarray(second.at)) },
    'after finish_reason': behind(events, finish),
    'after usage': behind(events, usage),
    ...(terminator === null ? null : { 'after the terminator': behind(events, terminator) }),
  }
}

/** @param isEnd the body ends in a way that may be the end of the answer */
function fateOf(
  { last, isEnd }: { readonly last: number; readonly isEnd: boolean },
  { firstOutput, finish, terminator }: EventPlaces,
): Fate {
  if (last < firstOutput) return 'another answers'
  const isWhole = (terminator !== null && last >= terminator) || (isEnd && last >= finish)
  return isWhole ? 'whole' : 'told'
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
    sent: [],
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
