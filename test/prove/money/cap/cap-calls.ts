/** Calls of random length, tier and honesty, on a connection each. */
import { request as send } from 'node:http'
import { CAP_MODEL, HELD_MODEL, LONG_TOKENS, type CapFacts, type CapTiers } from './cap-prices.ts'
import { WORDS, type CapOrder } from './cap-provider.ts'

export interface CapCall extends CapFacts {
  readonly id: string
  readonly model: string
  readonly path: '/chat/completions' | '/messages'
  readonly isStream: boolean
  /** The provider reports no more than what was asked for allows. */
  readonly isHonest: boolean
  readonly body: string
}

/** What its caller got. */
export interface CapAnswer {
  readonly call: CapCall
  /** 0: none, or one that broke off. */
  readonly status: number
  /** Nano-USD that the answer says. */
  readonly costNano: number
  readonly refusal: string
}

type Random = (below: number) => number

/** Tokens of an answer: fewer than its words are not credible. */
const OUTPUT_MAX = 50
/** Tokens of a byte of the prompt, as the provider counts: fewer than the bound. */
const TOKENS_PER_BYTE = 0.7
/** Bytes of prompts: below the threshold; above it by their bytes alone; above it by their tokens. */
const BYTES = [
  [200, 600],
  [1_700, 2_000],
  [2_300, 3_500],
] as const
/** Of so many calls one has a provider that reports ten times the tokens, and one that reports another tier. */
const LYING_EACH = 8
const LIE = 10
/** Milliseconds that a call may take: longer than a front that is killed. */
const CALL_MS_MAX = 60_000

const ASKED: readonly CapTiers[] = [
  {},
  {},
  { service_tier: 'fast' },
  { service_tier: 'flex' },
  { speed: 'fast' },
]

/** A short prompt without a tier, by an honest provider. */
export function shortCall(id: string, random: Random): CapCall {
  const length = bytesOf(0, random)
  return callOf({ id, length, output: outputOf(random), asked: {}, reported: {} })
}

export interface CapPlace {
  /** It has an endpoint that fails first. */
  readonly isHeldFirst?: boolean
  /** Its stream stops after the first words. */
  readonly isHeldStream?: boolean
}

export function anyCall(id: string, random: Random, place: CapPlace = {}): CapCall {
  const asked = ASKED[random(ASKED.length)] ?? {}
  const isLie = random(LYING_EACH) === 0
  return callOf({
    ...{ id, asked, isLie, output: outputOf(random), length: bytesOf(random(BYTES.length), random) },
    reported: reportedOf(asked, random),
    isStream: place.isHeldStream ?? random(2) === 0,
    isHeld: place.isHeldStream ?? false,
    model: place.isHeldFirst === true ? HELD_MODEL : CAP_MODEL,
  })
}

function outputOf(random: Random): number {
  return WORDS + random(OUTPUT_MAX - WORDS + 1)
}

function bytesOf(size: number, random: Random): number {
  const [least, most] = BYTES[size] ?? [0, 1]
  return least + random(most - least)
}

/** The requested tier, the usual one, none, or a dearer one that was not requested. */
function reportedOf(asked: CapTiers, random: Random): CapTiers {
  const kind = random(LYING_EACH)
  if (kind === 0) return { service_tier: 'priority' }
  if (kind === 1) return { service_tier: 'default' }
  return kind === 2 ? {} : asked
}

interface Drawn {
  readonly id: string
  /** Bytes of the prompt. */
  readonly length: number
  readonly output: number
  readonly asked: CapTiers
  readonly reported: CapTiers
  readonly isLie?: boolean
  readonly isStream?: boolean
  readonly isHeld?: boolean
  readonly model?: string
}

function callOf(drawn: Drawn): CapCall {
  const { id, length, asked, reported, isLie = false, isStream = false, isHeld = false } = drawn
  const { model = CAP_MODEL } = drawn
  const times = isLie ? LIE : 1
  const [input, output] = [Math.floor(length * TOKENS_PER_BYTE) * times, drawn.output * times]
  const order: CapOrder = { id, input, output, reported, isHeld, pad: '' }
  const pad = 'x'.repeat(Math.max(0, length - JSON.stringify(order).length))
  const messages = [{ role: 'user', content: JSON.stringify({ ...order, pad }) }]
  const isUnasked = reported.service_tier === 'priority' && asked.service_tier !== 'fast'
  return {
    ...{ id, model, isStream, input, output, asked, reported, isHonest: !isLie && !isUnasked },
    path: asked.speed === undefined ? '/chat/completions' : '/messages',
    body: JSON.stringify({ model, messages, max_tokens: OUTPUT_MAX, stream: isStream, ...asked }),
  }
}

/** Whether the tokens of the prompt are beyond the threshold. */
export function isLong({ input }: CapFacts): boolean {
  return input > LONG_TOKENS
}

export function answerTo(
  call: CapCall,
  { port, key }: { readonly port: number; readonly key: string },
): Promise<CapAnswer> {
  const { id, path, body } = call
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    authorization: `Bearer ${key}`,
    'x-request-id': id,
  }
  return new Promise((resolve) => {
    const none: CapAnswer = { call, status: 0, costNano: 0, refusal: '' }
    const options = { port, host: '127.0.0.1', path: `/api/v1${path}`, method: 'POST', headers, agent: false }
    const req = send(options, (res) => {
      let text = ''
      res.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      res.on('error', () => resolve(none))
      res.on('close', () => resolve(res.complete ? answerOf(call, res.statusCode ?? 0, text) : none))
    })
    req.setTimeout(CALL_MS_MAX, () => req.destroy())
    req.on('error', () => resolve(none))
    req.end(body)
  })
}

const NANO = 1e9

function answerOf(call: CapCall, status: number, text: string): CapAnswer {
  const [, refusal = ''] = /"error_type":"(\w+)"/.exec(text) ?? []
  const costs = Array.from(text.matchAll(/"cost":([\d.e-]+)/g), ([, usd]) => Number(usd))
  const isWhole = status === 200 && refusal === ''
  return {
    call,
    status: isWhole || status >= 400 ? status : 0,
    costNano: Math.round((costs.at(-1) ?? 0) * NANO),
    refusal,
  }
}
