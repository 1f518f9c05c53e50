/** Usages that providers report over sockets, as callers of each dialect pay them and read them. */
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { eventsIn } from '../../../support/inference/accumulated.ts'
import { wholeJson } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import type { Proof } from '../../proof.ts'
import { costOf, pricesBy, tokensBy, type AllPrices } from '../cost-oracle.ts'
import type { ProtocolModel } from '../protocols/protocol-front.ts'
import { Faults, together } from '../streams/faults.ts'
import { TELLINGS, type Members, type Telling } from './tellings.ts'
import { reportedForms, type ReportedForm } from './reported-forms.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** The usage that a provider reports in one call, and its cost. */
interface Plan {
  readonly body: { readonly whole: object } | { readonly events: Parameters<typeof streams>[0] }
  readonly costNano: bigint
}

/** A front or a node with the models below. */
export interface UsageStand {
  /** Address of the API, with its prefix. */
  readonly base: string
  readonly key: string
  /** Nano-USD that each call was charged, by its id. */
  charged(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}

/** Tokens of one kind at most: all of them are below what is reserved for a call. */
const TOKENS_MAX = 2_000
const PROMPT_CHARS = 8_192
const ANSWER_TOKENS_MAX = 4_096
const CALLS_AT_ONCE = 8
const NANO_PER_USD = 1e9

/** The models of each protocol, whose providers report the planned usage of a call. */
export class UsageModels {
  readonly models: readonly ProtocolModel[]
  readonly #plans = new Map<string, Plan>()
  readonly #prices: ReadonlyMap<TextProtocol, AllPrices>
  #calls = 0

  constructor(random: (below: number) => number) {
    this.#prices = new Map(TELLINGS.map(({ protocol }) => [protocol, pricesBy(random)]))
    const answer: FakeAnswer = (call, reply) => {
      const [, id = ''] = /Usage (\d+)\./.exec(call.body.toString()) ?? []
      const body = this.#plans.get(id)?.body ?? { whole: {} }
      const answers = 'whole' in body ? wholeJson(200, JSON.stringify(body.whole)) : streams(body.events)
      return answers(call, reply)
    }
    this.models = [...this.#prices].map(([protocol, prices]) => ({
      ...{ slug: protocol, protocol, upstreamModel: `${protocol}-model`, answer },
      pricing: pricingOf(prices),
    }))
  }

  /** @returns the id of the call, which its prompt has to name */
  plan(
    { hasSearches: _, ...telling }: Telling,
    isStream: boolean,
    random: (below: number) => number,
  ): string {
    const id = String(this.#calls++)
    const truth = tokensBy(random, telling, TOKENS_MAX)
    const usage = telling.usage(truth)
    const stream = telling.streams[random(telling.streams.length)]
    const body =
      isStream && stream !== undefined ? { events: stream(usage) } : { whole: telling.whole(usage) }
    const prices = this.#prices.get(telling.protocol)
    if (prices === undefined) throw new Error(`${telling.protocol} has no prices`)
    this.#plans.set(id, { body, costNano: costOf(truth, prices) })
    return id
  }

  costOf(id: string): bigint | undefined {
    return this.#plans.get(id)?.costNano
  }
}

/** As the catalogue writes them, in USD. */
function pricingOf(prices: AllPrices): Members {
  const token = (nanoPerMillion: number): string => decimalOf(nanoPerMillion, 15)
  return {
    prompt: token(prices.promptNanoPerMillion),
    completion: token(prices.completionNanoPerMillion),
    internal_reasoning: token(prices.reasoningNanoPerMillion),
    input_cache_read: token(prices.cacheReadNanoPerMillion),
    input_cache_write: token(prices.cacheWriteNanoPerMillion),
    input_cache_write_1h: token(prices.cacheWriteHourNanoPerMillion),
    ...{ audio: token(prices.media.audio), input_audio_cache: token(prices.media.audioRead) },
    ...{ image_token: token(prices.media.image), audio_output: token(prices.media.audioOutput) },
    ...{ request: decimalOf(prices.requestNano, 9), web_search: decimalOf(prices.searchNano, 9) },
  }
}

function decimalOf(figure: number, places: number): string {
  const digits = String(figure).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

interface Asking {
  readonly path: string
  body(model: string, prompt: string): Members
  /** Of an event, or of a whole answer; absent: none is reported. */
  usageIn(reported: Members): unknown
}

const ASKING: Readonly<Record<Dialect, Asking>> = {
  chat: {
    path: '/chat/completions',
    body: (model, content) => ({
      model,
      messages: [{ role: 'user', content }],
      max_tokens: ANSWER_TOKENS_MAX,
    }),
    usageIn: ({ usage }) => usage,
  },
  responses: {
    path: '/responses',
    body: (model, input) => ({ model, input, max_output_tokens: ANSWER_TOKENS_MAX }),
    usageIn: ({ usage, response }) => usage ?? ((response ?? {}) as Members)['usage'],
  },
  messages: {
    path: '/messages',
    body: (model, content) => ({
      model,
      messages: [{ role: 'user', content }],
      max_tokens: ANSWER_TOKENS_MAX,
    }),
    usageIn: ({ type, usage }) => (type === 'message_start' ? undefined : usage),
  },
}

interface Asked {
  readonly plan: string
  /** Of the request, as the books have it. */
  readonly id: string
  readonly dialect: Dialect
  readonly shown: Members | null
  readonly text: string
}

/** @param count calls of each pair, streamed and whole */
export async function checkCalledUsages(
  proof: Proof,
  stand: UsageStand,
  { models, count }: { readonly models: UsageModels; readonly count: number },
): Promise<void> {
  const forms = await reportedForms()
  for (const dialect of DIALECTS)
    for (const telling of TELLINGS) {
      const plans = Array.from({ length: 2 * count }, (_, nth) => ({
        plan: models.plan(telling, nth % 2 === 0, (below) => proof.random(below)),
        isStream: nth % 2 === 0,
      }))
      const asked: Asked[] = []
      await together(plans, CALLS_AT_ONCE, async ({ plan, isStream }) => {
        asked.push(await ask(stand, { dialect, model: `prove/${telling.protocol}`, plan, isStream }))
      })
      const charged = await stand.charged(asked.map(({ id }) => id))
      const faults = new Faults()
      for (const one of asked) {
        // Natively, a provider's usage passes as it came.
        const form = dialect === telling.protocol ? null : forms[dialect]
        const wrong = wrongOf(one, models.costOf(one.plan), { charged: charged.get(one.id), form })
        if (wrong !== null) faults.add(wrong)
      }
      proof.check(
        `${dialect} at ${telling.protocol}: charged and told are what the oracle has`,
        faults.isNone,
        faults.reported(asked.length),
      )
    }
}

interface Call {
  readonly dialect: Dialect
  readonly model: string
  readonly plan: string
  readonly isStream: boolean
}

async function ask({ base, key }: UsageStand, { dialect, model, plan, isStream }: Call): Promise<Asked> {
  const { path, body, usageIn } = ASKING[dialect]
  const prompt = `Usage ${plan}. `.padEnd(PROMPT_CHARS, 'x')
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body(model, prompt), ...(isStream && { stream: true }) }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const text = Buffer.from(bytes).toString()
  const answers = isStream ? eventsIn(bytes) : [JSON.parse(text) as Members]
  const usages = answers.map(usageIn).filter((usage) => (usage ?? null) !== null)
  const reported = (usages.at(-1) ?? null) as Members | null
  return { plan, id: response.headers.get('x-request-id') ?? '', dialect, shown: reported, text }
}

interface Paid {
  readonly charged: number | undefined
  readonly form: ReportedForm | null
}

function wrongOf(
  { shown, text }: Asked,
  costNano: bigint | undefined,
  { charged, form }: Paid,
): string | null {
  if (shown === null) return `no usage in ${text}`
  try {
    form?.check(shown)
  } catch (problem) {
    return `its clients refuse ${JSON.stringify(shown)}: ${String(problem)}`
  }
  const cost = Math.round(Number(shown['cost']) * NANO_PER_USD)
  const isRight = BigInt(cost) === costNano && charged === cost && shown['is_estimated'] === undefined
  return isRight ? null : `told ${cost}, charged ${charged}, not ${costNano}: ${JSON.stringify(shown)}`
}
