/** What a load test draws by its seed: when calls are due, and how long prompts and answers are. */
import { DRAWN_TOKENS_MAX } from './limits.ts'

/** A number from 0 up to 1, 1 not among them. */
export type Random = () => number

/** mulberry32: the same numbers for the same seed on each machine. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const ARRIVALS = ['poisson', 'uniform'] as const
export type Arrivals = (typeof ARRIVALS)[number]

/**
 * Milliseconds from the start at which each call is due, endless: with equal gaps, or with gaps as calls of
 * callers that do not know each other have them.
 */
export function* dueTimes(ratePerS: number, arrivals: Arrivals, random: Random): Generator<number, never> {
  const meanMs = 1_000 / ratePerS
  for (let at = 0; ;) {
    yield at
    at += arrivals === 'uniform' ? meanMs : -Math.log(1 - random()) * meanMs
  }
}

/** Tokens: always as many, evenly from a range, or with the logarithm of a normal distribution. */
export type Lengths =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'range'; readonly least: number; readonly most: number }
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number }

const LENGTHS_TEXT = `200, 50-500 or lognormal:200:0.8 (median and sigma): whole numbers of tokens from 1 to ${DRAWN_TOKENS_MAX}`
/** A sigma above it draws nothing but the least and the most. */
const SIGMA_MAX = 4

/** Throws an Error that explains the fault in one line. */
export function lengthsOf(option: string, text: string): Lengths {
  const fault = new Error(`--${option} takes ${LENGTHS_TEXT}, not '${text}'`)
  const tokens = (digits: string | undefined): number => {
    const count = Number(digits)
    if (!Number.isInteger(count) || count < 1 || count > DRAWN_TOKENS_MAX) throw fault
    return count
  }
  if (/^\d+$/.test(text)) return { kind: 'fixed', tokens: tokens(text) }
  const range = /^(\d+)-(\d+)$/.exec(text)
  if (range !== null) {
    const [least, most] = [tokens(range[1]), tokens(range[2])]
    if (least > most) throw fault
    return { kind: 'range', least, most }
  }
  const drawn = /^lognormal:(\d+):(\d+(?:\.\d+)?)$/.exec(text)
  if (drawn === null || Number(drawn[2]) > SIGMA_MAX) throw fault
  return { kind: 'lognormal', median: tokens(drawn[1]), sigma: Number(drawn[2]) }
}

export function drawnLength(lengths: Lengths, random: Random): number {
  switch (lengths.kind) {
    case 'fixed':
      return lengths.tokens
    case 'range':
      return lengths.least + Math.floor(random() * (lengths.most - lengths.least + 1))
    case 'lognormal': {
      const drawn = Math.round(lengths.median * Math.exp(lengths.sigma * normal(random)))
      return Math.min(DRAWN_TOKENS_MAX, Math.max(1, drawn))
    }
  }
}

/** Box and Muller. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
