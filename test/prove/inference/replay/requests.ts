/** Requests of callers, by the seed: of generators, of the least ones with samples of fields, and random bytes. */
import fc from 'fast-check'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { VALID_BODIES } from '../../../support/inference/bodies/valid-bodies.ts'
import { DIALECTS } from '../fidelity/faithful-dialect.ts'
import { MODEL } from '../fidelity/faithful-stand.ts'
import { randomBody } from '../fidelity/random-body.ts'
import { RawJson } from '../fidelity/raw-json.ts'
import { LEAST, SAMPLES, type Body, type FieldSample } from '../forms/field-samples.ts'
import { fitting, withOneUrl } from './fitting.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface Asked {
  readonly model: string
  readonly isStream: boolean
  /** Slugs of the providers of the model. */
  readonly providers: readonly string[]
}

export interface AskedText extends Asked {
  /** Forms of the providers, in the same order. */
  readonly forms: readonly TextProtocol[]
}

type Random = (below: number) => number

const FIELDS_MAX = 3
/** Fields that providers of every form take: what goes wrong in an answer needs a call that has one. */
const TAKEN = [
  ...['temperature', 'top_p', 'tools', 'tool_choice', 'max_tokens', 'max_output_tokens'],
  ...['system', 'instructions', 'messages', 'input', 'reasoning', 'thinking', 'metadata.user_id'],
]
/** One random body out of this many is long enough for a thread to read it. */
const LONG_TIMES = 12

/** @returns a body with a character for each byte */
export function textRequest(random: Random, dialect: Dialect, asked: AskedText): string {
  const kind = random(10)
  if (kind === 0) return rawRequest(random, dialect, asked)
  const names = kind === 1 ? [...SAMPLES[dialect].keys()] : TAKEN
  const isGenerated = kind > 1 && kind < 6
  const body = isGenerated ? generated(random, dialect, asked.forms) : withFields(random, dialect, names)
  const own = random(8) === 0 ? oneOf(random, preferences(asked)) : {}
  const stream = asked.isStream ? { stream: true } : {}
  // With the operator's key nothing is stored.
  const kept = without(body, 'model', 'stream', ...(random(20) === 0 ? [] : ['store']))
  return latin1({ model: asked.model, ...kept, ...own, ...stream })
}

export function embeddingRequest(random: Random, asked: Asked): string {
  const own = random(8) === 0 ? oneOf(random, preferences(asked)) : {}
  const more = random(2) === 0 ? oneOf(random, random(8) === 0 ? REFUSED_FIELDS : EMBEDDING_FIELDS) : {}
  const input = oneOf(random, random(4) === 0 ? INPUTS : TEXTS)
  return latin1({ model: asked.model, input, ...more, ...own })
}

/** Seldom with what endpoints refuse before they are called. */
function generated(random: Random, dialect: Dialect, forms: readonly TextProtocol[]): Body {
  const [body] = fc.sample(VALID_BODIES[dialect], { numRuns: 1, seed: random(2 ** 31) })
  if (body === undefined) throw new Error('the generator gave nothing')
  const reported = withOneUrl(body)
  return random(12) === 0 ? reported : fitting(reported, dialect, forms)
}

function withFields(random: Random, dialect: Dialect, names: readonly string[]): Body {
  const samples = names.flatMap((name) => SAMPLES[dialect].get(name) ?? [])
  const chosen = Array.from({ length: 1 + random(FIELDS_MAX) }, (): FieldSample => oneOf(random, samples))
  return Object.assign(
    {},
    LEAST[dialect],
    ...chosen.map(({ beside, set }) => ({ ...beside, ...set })),
  ) as Body
}

/** Parts of text, as each dialect calls them. */
const TEXT_PARTS: Readonly<Record<Dialect, string>> = {
  chat: 'text',
  messages: 'text',
  responses: 'input_text',
}

/** Bytes that no serializer writes. Parts of an unknown type go to providers of the same form alone. */
function rawRequest(random: Random, name: Dialect, { model, isStream, forms }: AskedText): string {
  const dialect = DIALECTS.find((one) => one.name === name)
  if (dialect === undefined) throw new Error(`there are no random bodies of ${name}`)
  const json = new RawJson(random)
  const body = randomBody(json, { dialect, size: json.once(LONG_TIMES) ? 'job' : 'inline', id: 0 })
  const isForeign = forms.some((form) => form !== name) && random(8) > 0
  const known = isForeign ? body.replaceAll('"x_part"', `"${TEXT_PARTS[name]}"`) : body
  // The last one of members with one name counts.
  return `${known.replaceAll(`"${MODEL}"`, `"${model}"`).trimEnd().slice(0, -1)},"stream":${isStream}}`
}

/** What callers want of Sluice. */
function preferences({ providers }: Asked): readonly Body[] {
  return [
    { provider: { order: [...providers].reverse() } },
    { provider: { allow_fallbacks: false } },
    { provider: { sort: 'price', require_parameters: true } },
    { provider: { only: providers.slice(0, 1) } },
    { usage: { include: true } },
    { session_id: 'one', user: 'é' },
    { trace: { name: 'é', deep: [{}] } },
    { debug: { echo_upstream_body: true } },
    { models: [] },
    { x_unknown: { a: [1.5, null, '😀'] } },
    { temperature: 'warm' },
    { provider: { order: 7 } },
  ]
}

const LINES = Array.from({ length: 20 }, (_, nth) => `line ${nth} é 😀`)
const PICTURE = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=='
const TEXTS: readonly unknown[] = ['Hello', 'é "x" \u0000 😀', 'word '.repeat(2_000), LINES, ['one']]
const INPUTS: readonly unknown[] = [
  [1, 2, 3],
  [[1, 2], [3]],
  [{ content: [{ type: 'text', text: 'Hi' }] }],
  [
    {
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: { url: PICTURE } },
      ],
    },
  ],
  [],
]
const EMBEDDING_FIELDS: readonly Body[] = [
  { encoding_format: 'float' },
  { encoding_format: 'base64' },
  { dimensions: 8 },
  { input_type: 'query', user: 'somebody' },
  { x_unknown: [1] },
]
const REFUSED_FIELDS: readonly Body[] = [{ encoding_format: 'other' }, { dimensions: 0 }]

function oneOf<T>(random: Random, from: readonly T[]): T {
  const one = from[random(from.length)]
  if (one === undefined) throw new Error('there is nothing to choose from')
  return one
}

function without(body: Body, ...names: readonly string[]): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
}

function latin1(body: Body): string {
  return Buffer.from(JSON.stringify(body)).toString('latin1')
}
