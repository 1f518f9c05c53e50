/** What clients put together of a translated stream is what the provider wrote, whole or in fragments. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { NamedOrigin } from '../../../../src/dialects/prompt/prompt.ts'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { OriginalCalls } from '../../../../src/dialects/original-calls.ts'
import { eventsIn } from '../../../support/inference/accumulated.ts'
import { partsOf } from '../../../support/inference/cut-parts.ts'
import { FAILURE_OF } from '../../../support/inference/provider-chunks.ts'
import { naturalOf, spacedMessages, WRITTEN_PARTS } from '../../../support/inference/random-parts.ts'
import { bothOf, streamOfParts, wholeOfParts } from '../../../support/inference/written-answers.ts'
import { openRouterShapes, type OpenRouterShapes } from '../../../support/wire/foreign-clients.ts'
import type { Program } from '../../proof.ts'
import { chatProvider } from './streamed/chat-provider.ts'
import { covers, SAIDOnce, statedBy } from './streamed/clients.ts'
import { geminiProvider } from './streamed/gemini-provider.ts'
import { messagesProvider } from './streamed/messages-provider.ts'
import { Chance, type Provider } from './streamed/provider-answer.ts'
import { responsesProvider } from './streamed/responses-provider.ts'
import { Faults } from '../streams/faults.ts'
import { orNull } from '../../../support/must.ts'
import type { WrittenPart } from '../../../../src/dialects/parts.ts'
import { PART_PROTOCOLS } from '../../../../src/dialects/translate.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../../src/schemas/models/protocols.ts'

const FULL = 10_000
const SHORT = 60
const BATCH = 500
const SHOWN_CHARS = 1_500
/** Answers of which `@openrouter/sdk` checks one. */
const CHECKED_ONE_IN = 10

const PROVIDERS: Readonly<Record<TextProtocol, Provider>> = {
  chat: chatProvider,
  responses: responsesProvider,
  messages: messagesProvider,
  gemini: geminiProvider,
}
/** Callers of chat and responses have declared `f` as a freeform tool, and `look` in a namespace. */
const ORIGINS: readonly NamedOrigin[] = [
  { called: 'f', origin: { name: 'patch', namespace: null, isFreeform: true } },
  { called: 'look', origin: { name: 'look', namespace: 'crm', isFreeform: false } },
]

/** Two answers in one; half of them without signatures of calls, whose fragments may stand in any order. */
const ANSWERS = fc.tuple(WRITTEN_PARTS, WRITTEN_PARTS, fc.boolean()).map(([one, other, isSigned]) => {
  const first = one.filter(({ kind }) => kind !== 'finish')
  const more = other.map((part) => (part.kind === 'tool' ? { ...part, id: `${part.id}b` } : part))
  const isKept = (part: WrittenPart): boolean => isSigned || part.kind !== 'signature' || part.of !== 'call'
  return [...first, ...more].filter(isKept)
})

export const program: Program = {
  text: 'what clients put together of translated streams, in each order of fragments and cut anywhere, is the whole answer',
  async run(proof) {
    const shapes = await openRouterShapes()
    const chance = new Chance(proof)
    const count = proof.isShort ? SHORT : FULL
    for (const protocol of TEXT_PROTOCOLS) {
      const dialects = DIALECTS.filter((dialect) => dialect !== protocol)
      const faults = new Faults()
      for (let left = count; left > 0; left -= BATCH) {
        const runs = { numRuns: Math.min(left, BATCH), seed: chance.below(2 ** 31) }
        for (const made of fc.sample(ANSWERS, runs)) {
          const fault = await faultOf(new Tried({ protocol, dialects, shapes, chance }), made)
          if (fault !== null) faults.add(`${fault}: ${JSON.stringify(made)}`.slice(0, SHOWN_CHARS))
        }
      }
      proof.check(
        `${protocol} for callers of ${dialects.join(' and ')}: a client makes the whole answer of the stream`,
        faults.isNone,
        faults.reported(count),
      )
    }
  },
}

/** @returns what is wrong; null: nothing */
function faultOf(tried: Tried, made: readonly WrittenPart[]): Promise<string | null> {
  return tried.faultOf(made).catch((problem: unknown) => String(problem))
}

interface Trial {
  readonly protocol: TextProtocol
  readonly dialects: readonly Dialect[]
  readonly shapes: OpenRouterShapes
  readonly chance: Chance
}

/** One answer of a provider, for callers of each other dialect. */
class Tried {
  readonly #trial: Trial

  constructor(trial: Trial) {
    this.#trial = trial
  }

  async faultOf(made: readonly WrittenPart[]): Promise<string | null> {
    const { protocol, dialects, chance } = this.#trial
    const written = withFreeform(made)
    const { stream, whole, isInOrder } = PROVIDERS[protocol](written, chance)
    const reader = PART_PROTOCOLS[protocol].stream(FAILURE_OF)
    const read = partsOf(reader, chance.cut(stream))
    if (read.failure !== null || read.end !== null)
      return `streamed: ${JSON.stringify(read.failure ?? read.end)}`
    const wholly = orNull(PART_PROTOCOLS[protocol].whole(Buffer.from(JSON.stringify(whole))))
    if (wholly === null) return 'the whole answer cannot be read'
    const parts = { streamed: [...read.parts, ...(reader.finalParts ?? [])], whole: wholly.parts }
    for (const dialect of dialects) {
      const fault = await this.#clientFault(dialect, parts, { written, isInOrder })
      if (fault !== null) return `${dialect}: ${fault}`
    }
    return null
  }

  async #clientFault(
    dialect: Dialect,
    parts: { readonly streamed: readonly WrittenPart[]; readonly whole: readonly WrittenPart[] },
    { written, isInOrder }: { readonly written: readonly WrittenPart[]; readonly isInOrder: boolean },
  ): Promise<string | null> {
    const { protocol, chance } = this.#trial
    const answer = wholeOfParts(dialect, forCaller(dialect, parts.whole))
    const stream = streamOfParts(dialect, forCaller(dialect, parts.streamed))
    const { put, stated } = await bothOf(dialect, stream, answer)
    const got = { ...put, content: put['content'] ?? '' }
    if (isInOrder && !covers(got, stated)) return `${JSON.stringify(got)} is not ${JSON.stringify(stated)}`
    const expected = statedBy(forCaller(dialect, plainOf(protocol, written)), dialect)
    if (!isDeepStrictEqual(SAIDOnce[dialect](got), expected))
      return `${JSON.stringify(SAIDOnce[dialect](got))} is not ${JSON.stringify(expected)}`
    if (chance.once(CHECKED_ONE_IN)) this.#check(dialect, stream, answer)
    return null
  }

  /** Throws at what `@openrouter/sdk` refuses, which knows no freeform tools of chat and no messages. */
  #check(dialect: Dialect, stream: Uint8Array, answer: object): void {
    const { chunk, answer: chat, event, response } = this.#trial.shapes
    if (dialect === 'messages' || (dialect === 'chat' && JSON.stringify(answer).includes('"custom":'))) return
    for (const one of eventsIn(stream)) (dialect === 'chat' ? chunk : event)(one)
    ;(dialect === 'chat' ? chat : response)(answer)
  }
}

/** Calls of `f` have a text for an argument. */
function withFreeform(made: readonly WrittenPart[]): readonly WrittenPart[] {
  let called = ''
  return made.flatMap((part, at): readonly WrittenPart[] => {
    if (part.kind === 'tool') called = part.name
    if (called !== 'f') return [part]
    if (part.kind === 'arguments') return []
    if (part.kind !== 'tool') return [part]
    const input = made.slice(at + 1, at + 3).map((one) => ('text' in one ? one.text : ''))
    return [part, { kind: 'arguments', choice: 0, text: JSON.stringify({ input: input.join('') }) }]
  })
}

/** What the protocol has words for. */
function plainOf(protocol: TextProtocol, written: readonly WrittenPart[]): readonly WrittenPart[] {
  if (protocol === 'chat') return naturalOf('chat', written)
  if (protocol === 'responses') return spacedMessages(written)
  return written.map((part) => (part.kind === 'refusal' ? { ...part, kind: 'text' } : part))
}

function forCaller(dialect: Dialect, parts: readonly WrittenPart[]): readonly WrittenPart[] {
  return dialect === 'messages' ? parts : new OriginalCalls(ORIGINS).of(parts)
}
