/** Requests of callers, by the seed: of generators, of the least ones with samples of fields, and random bytes. */
import fc from 'fast-check'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { VALID_BODIES } from '../../../support/inference/bodies/valid-bodies.ts'
import { DIALECTS } from '../fidelity/faithful-dialect.ts'
import { MODEL } from '../fidelity/faithful-stand.ts'
import { randomBody } from '../fidelity/random-body.ts'
import { RawJson } from '../fidelity/raw-json.ts'
import { LEAST, SAMPLES, type Body, type FieldSample } from '../forms/field-samples.ts'

export interface Asked {
  readonly model: string
  readonly isStream: boolean
  /** Slugs of the providers of the model. */
  readonly providers: readonly string[]
}

type Random = (below: number) => number

const FIELDS_MAX = 3
/** Fields that providers of every form take: what goes wrong in an answer needs a call that has one. */
const TAKEN = [
  ...['temperature', 'top_p', 'tools', 'tool_choice', 'max_tokens', 'max_output_tokens'],
  ...['system', 'instructions', 'messages', 'input', 'reasoning', 'thinking', 'metadata.user_id'],
]
/** One random body of so many is so long that a thread reads it. */
const LONG_TIMES = 12

/** @returns a body with a character for each byte */
export function textRequest(random: Random, dialect: Dialect, asked: Asked): string {
  const kind = random(10)
  if (kind === 0) return rawRequest(random, dialect, asked)
  const names = kind < 7 ? TAKEN : [...SAMPLES[dialect].keys()]
  const body = kind < 4 ? generated(random, dialect) : withFields(random, dialect, names)
  const own = random(5) === 0 ? oneOf(random, preferences(asked)) : {}
  const stream = asked.isStream ? { stream: true } : {}
  // With the operator's key nothing is stored.
  const kept = without(body, 'model', 'stream', ...(random(20) === 0 ? [] : ['store']))
  return latin1({ model: asked.model, ...kept, ...own, ...stream })
}

export function embeddingRequest(random: Random, asked: Asked): string {
  const own = random(5) === 0 ? oneOf(random, preferences(asked)) : {}
  const more = random(2) === 0 ? oneOf(random, EMBEDDING_FIELDS) : {}
  const input = oneOf(random, random(2) === 0 ? INPUTS : TEXTS)
  return latin1({ model: asked.model, input, ...more, ...own })
}

/** Of the generators: which of several cannot be fetched first is chance, and so all are one. */
const URLS = ['http://x.example/%20?a=b#c', 'https://ü.example/']
const ONE_URL = 'https://x.example/a.pdf'

function generated(random: Random, dialect: Dialect): Body {
  const [body] = fc.sample(VALID_BODIES[dialect], { numRuns: 1, seed: random(2 ** 31) })
  if (body === undefined) throw new Error('the generator gave nothing')
  return JSON.parse(URLS.reduce((json, url) => json.replaceAll(url, ONE_URL), JSON.stringify(body))) as Body
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

/** Bytes that no serializer writes. */
function rawRequest(random: Random, name: Dialect, { model, isStream }: Asked): string {
  const dialect = DIALECTS.find((one) => one.name === name)
  if (dialect === undefined) throw new Error(`there are no random bodies of ${name}`)
  const json = new RawJson(random)
  const body = randomBody(json, { dialect, size: json.once(LONG_TIMES) ? 'job' : 'inline', id: 0 })
  // The last one of members with one name counts.
  return `${body.replaceAll(`"${MODEL}"`, `"${model}"`).trimEnd().slice(0, -1)},"stream":${isStream}}`
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
  '',
  [],
]
const EMBEDDING_FIELDS = [
  { encoding_format: 'float' },
  { encoding_format: 'base64' },
  { encoding_format: 'other' },
  { dimensions: 8 },
  { dimensions: 0 },
  { input_type: 'query', user: 'somebody' },
  { x_unknown: [1] },
]

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
