/** Callers leave at random instants: providers are cut at once, or read to their end, and each call is charged. */
import { DRAINS_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { clientPortsOf } from '../../support/wire/sockets.ts'
import { until } from '../../support/wait.ts'
import { checkLedger } from '../check-ledger.ts'
import type { Program, ProgramForm, Proof } from '../proof.ts'
import { recordsOf, rowsOf, type BookedRow } from './paced/booked.ts'
import { startCall, type PacedCall } from './paced/callers.ts'
import { PROMPT_TOKENS } from './paced/dialects.ts'
import { estimates } from './paced/estimates.ts'
import { PACED_PAIRS, pairAt, type PacedPair } from './paced/pairs.ts'
import type { Asked, PacedAnswer } from './paced/provider.ts'
import { boundOf, startPacedStand, type PacedStand } from './paced/stand.ts'

const FRONTS = 2
/** Calls, and the milliseconds of their time. */
interface Size {
  readonly callers: number
  readonly drained: number
  /** Between two words of an answer. */
  readonly wordMs: number
  /** Of a drained answer: it goes on when all callers have left. */
  readonly drainedWords: number
  /** From its beginning in which a caller leaves who is not awaited. */
  readonly leavingMsMax: number
  /** Of each of some rounds. */
  readonly warmingCalls: number
}

const PACE = { wordMs: 200, drainedWords: 50, leavingMsMax: 6_000, warmingCalls: 50 }
const SIZES: Readonly<Record<ProgramForm, { readonly full: Size; readonly short: Size }>> = {
  usual: {
    full: { callers: 1_000, drained: 800, ...PACE },
    short: { callers: 60, drained: 40, ...PACE },
  },
  translated: {
    full: { callers: 540, drained: 270, ...PACE },
    short: { callers: 27, drained: 18, wordMs: 100, drainedWords: 60, leavingMsMax: 1_200, warmingCalls: 9 },
  },
}
/** Milliseconds from the end of the caller's connection to that of the provider's. */
const CUT_MS_MAX = 50
const TOKENS_MAX = 100
/** For every second caller the provider is silent after so many words. */
const SILENT_AT = 3
/** The part of a drained answer after which all callers have left. */
const DRAINED_LEAVING_SHARE = 0.15
/** Milliseconds in which a front has seen that its callers have left, on a machine that is not slow. */
const SEEN_MS = 500
/** An estimate is at most so far from what was generated. */
const APART_SHARE = 0.1
/** Words that may be on their way when a caller leaves, of one call and of each on the average. */
const APART_WORDS = 2
const APART_WORDS_MEAN = 0.75
/** Milliseconds between the beginnings of two calls. */
const REST_MS = 4
const WARMING_ROUNDS = 4

export const program: Program = {
  text: '1,000 callers leave at random instants: providers are cut within 50 ms or read on, and charges are near a real tokenizer',
  async run(proof) {
    await leaveAll(proof, 'usual')
    await estimates(proof)
  },
  translated: (proof) => leaveAll(proof, 'translated'),
}

interface Round {
  readonly proof: Proof
  readonly form: ProgramForm
  readonly size: Size
  readonly stand: PacedStand
}

async function leaveAll(proof: Proof, form: ProgramForm): Promise<void> {
  const size = SIZES[form][proof.isShort ? 'short' : 'full']
  const stand = await startPacedStand(proof, { fronts: FRONTS, wordMs: size.wordMs })
  const round: Round = { proof, form, size, stand }
  await warm(round)
  await cancels(round)
  await drains(round)
  await checkLedger(proof, stand.stand)
}

/** The first calls of a front take longer. */
async function warm({ form, size, stand: { stand } }: Round): Promise<void> {
  for (let nth = 0; nth < WARMING_ROUNDS; nth++) {
    const calls = Array.from({ length: size.warmingCalls }, (_, at) => {
      const asked = { id: `warm-${nth}-${at}`, words: 1 }
      const { dialect, paced } = pairAt(form, at)
      const asking = { key: stand.keys.inference_key, dialect, asked }
      return startCall({ port: stand.port, model: paced }, asking)
    })
    await Promise.all(calls.map(({ over }) => over))
  }
}

interface Leaving {
  modelOf(pair: PacedPair): string
  readonly callers: number
  /** Milliseconds from its beginning in which a caller leaves. */
  readonly msMax: number
  asked(nth: number): Asked
}

/** @returns all calls, each of which was left */
async function leave(
  { proof, form, stand: { stand } }: Round,
  input: Leaving,
): Promise<readonly PacedCall[]> {
  const { callers, msMax } = input
  const all: PacedCall[] = []
  for (let nth = 0; nth < callers; nth++) {
    const [asked, key] = [input.asked(nth), stand.keys.inference_key]
    const pair = pairAt(form, proof.random(PACED_PAIRS[form].length))
    const asking = { key, dialect: pair.dialect, asked, tokensMax: TOKENS_MAX }
    const call = startCall({ port: stand.port, model: input.modelOf(pair) }, asking)
    setTimeout(call.leave, proof.random(msMax))
    all.push(call)
    // A front that admits a thousand calls at once does little else.
    await pause(REST_MS)
  }
  await Promise.all(all.map(({ over }) => over))
  return all
}

async function cancels(round: Round): Promise<void> {
  const { proof, stand, size } = round
  const { callers, leavingMsMax: msMax } = size
  const asked = (nth: number): Asked => ({
    id: `cancel-${proof.seed}-${nth}`,
    ...(nth % 2 === 0 ? null : { silentAt: SILENT_AT }),
  })
  const calls = await leave(round, { modelOf: ({ paced }) => paced, callers, msMax, asked })
  await until('all providers are cut', () => stand.provider.open === 0)
  const made = madeOf(stand, calls)
  const others = calls.filter(({ end }) => end !== 'left').length
  proof.check(
    'cancel: the connection of each provider is closed',
    made.length > 0 && others === 0 && made.every(({ answer }) => !answer.isWhole),
    `${made.length} of ${calls.length} calls came to the provider, ${others} ended otherwise`,
  )
  const cutMs = made
    .map(({ call, answer }) => (answer.endedAt ?? Infinity) - call.leftAt)
    .sort((a, b) => a - b)
  const [p50, p99, most] = [0.5, 0.99, 1].map(
    (share) => cutMs[Math.ceil(cutMs.length * share) - 1] ?? Infinity,
  )
  proof.checkTimed(
    `cancel: within ${CUT_MS_MAX} ms (p99) of the caller's end`,
    (p99 ?? Infinity) <= CUT_MS_MAX,
    `p50 ${p50?.toFixed(1)}, p99 ${p99?.toFixed(1)}, most ${most?.toFixed(1)} ms`,
  )
  const { rows, wrong } = await booked(stand, made)
  let [estimated, read, generated] = [0, 0, 0]
  for (const one of made) {
    const row = rows.get(one.call.id)
    if (row === undefined) continue
    estimated += row.output
    generated += one.answer.generated
    read += one.call.read
    if (isApart(row, one, round)) wrong.push(`${JSON.stringify(row)}, ${one.answer.generated} generated`)
  }
  const apartMax = Math.max(generated * APART_SHARE, made.length * APART_WORDS_MEAN)
  const isNear = Math.abs(estimated - generated) <= apartMax
  const isBetween = estimated >= read - apartMax && estimated <= generated + apartMax
  const found = `${estimated} tokens charged, ${read} read, ${generated} generated`
  if (proof.isShort) proof.checkTimed('cancel: estimates are what was generated until then', isNear, found)
  proof.check(
    'cancel: each call has one row and one record, estimated as what was generated until then',
    wrong.length === 0 && (proof.isShort ? isBetween : isNear),
    `${found}; ${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

async function drains(round: Round): Promise<void> {
  const { proof, stand, size } = round
  const { drained: callers, drainedWords, wordMs } = size
  const asked = (nth: number): Asked => ({ id: `drain-${proof.seed}-${nth}`, words: drainedWords })
  const msMax = DRAINED_LEAVING_SHARE * drainedWords * wordMs
  const calls = await leave(round, { modelOf: ({ drained }) => drained, callers, msMax, asked })
  await pause(SEEN_MS)
  await until('fronts have seen that callers left', () => callersOf(stand) === 0)
  const atOnce = stand.provider.open
  proof.check(
    `drain: at most ${DRAINS_MAX} of a front are read without their callers`,
    atOnce > 0 && atOnce <= FRONTS * DRAINS_MAX,
    `${atOnce} of ${calls.length} go on at ${FRONTS} fronts`,
  )
  await until('all drains are over', () => stand.provider.open === 0)
  const made = madeOf(stand, calls)
  const whole = made.filter(({ answer }) => answer.isWhole)
  const { rows, wrong } = await booked(stand, made)
  for (const one of made) {
    const row = rows.get(one.call.id)
    if (row === undefined) continue
    const isReported = row.kind === 'usage' && row.output === drainedWords && row.tokens === PROMPT_TOKENS
    if (one.answer.isWhole ? !isReported : isApart(row, one, round))
      wrong.push(`${JSON.stringify(row)}, ${one.answer.generated} generated`)
  }
  proof.check(
    'drain: each call has one row and one record, as the provider told its tokens where it was read to its end',
    // Where it takes long to begin all, the first are over before the last have left.
    wrong.length === 0 && (proof.isShort ? whole.length >= atOnce : whole.length === atOnce),
    `${whole.length} read to the end, ${made.length - whole.length} cut; ${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

/** Connections of callers that fronts hold. */
function callersOf({ stand }: PacedStand): number {
  return stand.fronts().reduce((sum, pid) => sum + clientPortsOf(pid, stand.port).size, 0)
}

interface Made {
  readonly call: PacedCall
  readonly answer: PacedAnswer
}

/** The calls that came to the provider. */
function madeOf({ provider }: PacedStand, calls: readonly PacedCall[]): readonly Made[] {
  return calls.flatMap((call) => {
    const answer = provider.answers.get(call.id)
    return answer === undefined ? [] : [{ call, answer }]
  })
}

/**
 * Whether the row of a cut call differs from the estimate of the output until then, or exceeds its bound.
 * In short what its caller has read is enough: the rest may lie before a front that stands still.
 */
function isApart(
  { kind, nano, output }: BookedRow,
  { call, answer }: Made,
  { form, proof: { isShort } }: Round,
): boolean {
  const { bodyBytes } = call
  const bound = boundOf({ bodyBytes, tokensMax: TOKENS_MAX, isTranslated: form === 'translated' })
  const most = Math.max(APART_WORDS, answer.generated * APART_SHARE)
  const least = isShort ? call.read : answer.generated
  return kind !== 'estimated' || nano > bound || output < least - most || output > answer.generated + most
}

/** The rows of calls by their ids, and what is wrong with their number and with their records. */
async function booked(
  stand: PacedStand,
  made: readonly Made[],
): Promise<{ readonly rows: ReadonlyMap<string, BookedRow>; readonly wrong: string[] }> {
  const calls = made.map(({ call }) => call)
  let found = await rowsOf(stand, calls)
  await until('every call has a row', async () => {
    found = await rowsOf(stand, calls)
    return found.size === made.length
  })
  let kept = await recordsOf(stand, calls)
  await until('every call has a record', async () => {
    kept = await recordsOf(stand, calls)
    return kept.size === made.length
  })
  const rows = new Map<string, BookedRow>()
  const wrong: string[] = []
  for (const { id } of calls) {
    const [[row, ...moreRows], [record, ...moreRecords]] = [found.get(id) ?? [], kept.get(id) ?? []]
    if (row !== undefined) rows.set(id, row)
    const { isCancelled, finishReason, chargedNano } = record?.facts ?? {}
    const isReported = isCancelled === true && finishReason === null && chargedNano === row?.nano
    if (!isReported || moreRows.length + moreRecords.length > 0)
      wrong.push(JSON.stringify([row, ...moreRows, record, ...moreRecords]))
  }
  return { rows, wrong }
}
