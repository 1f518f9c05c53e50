/** Options of the command line of a load test of the streams of a running deployment. */
import { API_PREFIX } from '../../src/schemas/api-prefix.ts'
import { issuersOf, keyOf, originOf, type Origin } from '../deployment/origin.ts'
import { numbersText, optionReader } from '../options.ts'
import { DIALECTS, type Dialect } from './dialects.ts'
import { ARRIVALS, lengthsOf, type Arrivals } from './draws.ts'
import {
  STREAM_CELL_SECONDS_MAX,
  STREAM_DRAIN_SECONDS,
  STREAM_RATE_MAX,
  STREAM_RATES_MAX,
  STREAMS_MAX,
  STREAMS_SECONDS_MAX,
} from './limits.ts'
import { promptsOfFile, type Prompts } from './prompts.ts'
import { NO_SLO, sloOf, type Slo } from './slo.ts'

/** Costs nothing and is on every node: it repeats the prompt, word by word. */
export const STREAM_MODEL = 'sluice/echo-1:slow'

export interface StreamsOptions {
  readonly origin: Origin
  /** Of the API: `/api/v1`, or the path of `--target`. */
  readonly basePath: string
  readonly key: string
  /** PEM; null: the issuers that the system trusts. */
  readonly issuers: string | null
  readonly dialect: Dialect
  readonly model: string
  readonly prompts: Prompts
  /** Calls a second of each cell of the open pace; empty: one cell of the closed pace. */
  readonly rates: readonly number[]
  readonly arrivals: Arrivals
  /** Streams at once. */
  readonly connections: number
  /** Seconds of a cell. */
  readonly seconds: number
  readonly repeats: number
  readonly seed: number
  readonly slo: Slo
  /** Share of failed and cut calls above which the test ends. */
  readonly errorsMax: number
  readonly csv: string | null
  readonly hdr: string | null
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, STREAM_CELL_SECONDS_MAX, 10],
  repeats: [1, 20, 1],
  seed: [0, 2 ** 31 - 1, 1],
} as const
const CLOSED_STREAMS = 8
const PROMPT_TOKENS = '200'
const ANSWER_TOKENS = '100'
const ERRORS_MAX = '50%'

export const STREAMS_OPTIONS_TEXT = [
  'options: --target https://sluice.example --stream --key KEY|@FILE ' +
    `--dialect ${DIALECTS.join('|')} --model ${STREAM_MODEL} ${numbersText(NUMBERS)} --ca FILE --record FILE`,
  `--connections ${CLOSED_STREAMS}  streams at once; each connection begins its next stream when its last one is over`,
  '--rate 40 or --rates 10,20,40  calls per second, whether or not the target keeps up, on at most ' +
    `--connections ${STREAMS_MAX} streams; --arrivals ${ARRIVALS.join('|')}`,
  `--prompt-tokens ${PROMPT_TOKENS} --answer-tokens ${ANSWER_TOKENS}  also a range (50-500) or a distribution ` +
    '(lognormal:200:0.8); --prompts FILE takes bodies, one JSON object per line',
  '--slo ttft=500ms,gap=50ms,total=20s  counts the streams within these times; ' +
    `--max-errors ${ERRORS_MAX} ends the test early`,
  '--csv FILE  a line for each call; --hdr FILE  histograms of each cell in the log format of HdrHistogram',
  `never more than ${STREAM_RATE_MAX} calls per second, ${STREAMS_MAX} streams at once, ` +
    `${STREAM_CELL_SECONDS_MAX} s a cell and ${STREAMS_SECONDS_MAX} s in all; calls of a model with a price are ` +
    'charged; a target with a path, such as https://host/v1, is any API of that dialect',
].join('\n')

export const readStreamsOptions = optionReader(
  {
    numbers: NUMBERS,
    lists: { dialect: DIALECTS, arrivals: ARRIVALS },
    counts: {
      rates: [1, STREAM_RATE_MAX, []],
      rate: [1, STREAM_RATE_MAX, []],
      connections: [1, STREAMS_MAX, []],
    },
    flags: ['stream'],
    words: [
      'target',
      'key',
      'ca',
      'model',
      'prompt-tokens',
      'answer-tokens',
      'prompts',
      'slo',
      'max-errors',
      'csv',
      'hdr',
    ],
  },
  (given): StreamsOptions => {
    const target = given.word('target') ?? ''
    const rates = ratesOf(given)
    const dialect = one('dialect', given.some('dialect', ['chat']))
    const model = given.word('model') ?? STREAM_MODEL
    const options = {
      ...placeOf(target),
      key: keyOf(given.word('key')),
      issuers: issuersOf(given.word('ca')),
      dialect,
      model,
      prompts: promptsOf(given, dialect, model),
      rates,
      arrivals: one('arrivals', given.some('arrivals', ['poisson'])),
      connections: one(
        'connections',
        given.counts('connections'),
        rates.length === 0 ? CLOSED_STREAMS : STREAMS_MAX,
      ),
      seconds: given.number('duration'),
      repeats: given.number('repeats'),
      seed: given.number('seed'),
      slo: given.word('slo') === null ? NO_SLO : sloOf(given.word('slo') ?? ''),
      errorsMax: shareOf(given.word('max-errors') ?? ERRORS_MAX),
      csv: given.word('csv'),
      hdr: given.word('hdr'),
      json: given.json,
    }
    if (rates.length === 0 && given.word('arrivals') !== null)
      throw new Error('--arrivals needs --rate or --rates')
    const seconds = secondsOf(options)
    if (seconds <= STREAMS_SECONDS_MAX) return options
    throw new Error(
      `this would take up to ${seconds} s, and ${STREAMS_SECONDS_MAX} s is the most: a shorter --duration, fewer --repeats or fewer --rates`,
    )
  },
)

type GivenCounts = { counts(name: string): readonly number[] }
type GivenWords = { word(name: string): string | null }

function ratesOf(given: GivenCounts): readonly number[] {
  const [rate, rates] = [given.counts('rate'), given.counts('rates')]
  if (rate.length > 0 && rates.length > 0)
    throw new Error('--rate is one rate and --rates are several: give one of them')
  if (rate.length > 1) throw new Error('--rate takes one rate; several are --rates')
  if (rates.length > STREAM_RATES_MAX) throw new Error(`--rates takes at most ${STREAM_RATES_MAX} rates`)
  return rates.length > 0 ? rates : rate
}

function one<T>(option: string, values: readonly T[], byDefault?: T): T {
  const [value = byDefault] = values
  if (value === undefined || values.length > 1) throw new Error(`--${option} takes one value`)
  return value
}

function promptsOf(given: GivenWords, dialect: Dialect, model: string): Prompts {
  const file = given.word('prompts')
  const drawn = ['prompt-tokens', 'answer-tokens'].find((name) => given.word(name) !== null)
  if (file !== null && drawn !== undefined)
    throw new Error(`--prompts takes whole bodies: --${drawn} has no meaning with it`)
  if (file !== null) return promptsOfFile(file, dialect, model)
  const lengths = (name: string, byDefault: string): Extract<Prompts, { kind: 'drawn' }>['prompt'] =>
    lengthsOf(name, given.word(name) ?? byDefault)
  return {
    kind: 'drawn',
    prompt: lengths('prompt-tokens', PROMPT_TOKENS),
    answer: lengths('answer-tokens', ANSWER_TOKENS),
  }
}

/** The path of a target is that of its API; without one the target is Sluice. */
function placeOf(target: string): Pick<StreamsOptions, 'origin' | 'basePath'> {
  const url = URL.canParse(target) ? new URL(target) : null
  const path = (url?.pathname ?? '').replace(/\/+$/, '')
  if (url === null || path === '' || url.search !== '' || url.hash !== '')
    return { origin: originOf(target), basePath: API_PREFIX }
  url.pathname = '/'
  return { origin: originOf(url.href), basePath: path }
}

function shareOf(text: string): number {
  const [, digits] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? []
  const share = Number(digits) / 100
  if (share >= 0 && share <= 1) return share
  throw new Error(`--max-errors takes a share from 0% to 100%, not '${text}'`)
}

export function secondsOf({
  rates,
  seconds,
  repeats,
}: Pick<StreamsOptions, 'rates' | 'seconds' | 'repeats'>): number {
  return repeats * Math.max(1, rates.length) * (seconds + STREAM_DRAIN_SECONDS)
}
