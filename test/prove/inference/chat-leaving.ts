/** Callers leave at random instants: providers are cut at once, or read to their end, and each call is charged. */
import { DRAINS_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import type { GenerationFacts } from '../../../src/server/ports/inference/generations.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import type { Program, Proof } from '../proof.ts'
import { bodyOf, startCall, type PacedCall } from './paced-callers.ts'
import { PROMPT_TOKENS, type Asked, type PacedAnswer } from './paced-provider.ts'
import { boundOf, DRAINED_MODEL, PACED_MODEL, startPacedStand, type PacedStand } from './paced-stand.ts'

const FRONTS = 2
const FULL = { callers: 1_000, drained: 800 }
const SHORT = { callers: 60, drained: 40 }
const WORD_MS = 200
const LEAVING_MS_MAX = 6_000
/** Milliseconds from the end of the caller's connection to that of the provider's. */
const CUT_MS_MAX = 50
const MORE = { max_tokens: 100 }
/** Of every second caller the provider is silent behind so many words. */
const SILENT_AT = 3
/** Words of a drained answer: it goes on when all callers have left. */
const DRAINED_WORDS = 50
const DRAINED_LEAVING_MS_MAX = 1_500
/** Milliseconds in which a front has seen that its callers have left. */
const SEEN_MS = 500
/** An estimate is at most so far from what was generated. */
const APART_SHARE = 0.1
/** Words that may be on their way when a caller leaves. */
const APART_WORDS = 2
/** Milliseconds between the beginnings of two calls. */
const REST_MS = 4
const WARMING_ROUNDS = 4
const WARMING_CALLS = 50

export const program: Program = {
  text: '1,000 callers leave at random instants: providers are cut within 50 ms or read to their end, each call is charged',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const stand = await startPacedStand(proof, { fronts: FRONTS, wordMs: WORD_MS })
    await warm(stand)
    await cancels(proof, stand, size.callers)
    await drains(proof, stand, size.drained)
    const checked = await stand.stand
      .cli('ledger', 'check')
      .catch((problem: unknown) => ({ failed: String(problem) }))
    const found = JSON.stringify(checked).slice(0, 300)
    proof.check('the ledger explains every counter', !('failed' in checked), found)
  },
}

/** The first calls of a front take longer. */
async function warm({ stand }: PacedStand): Promise<void> {
  for (let nth = 0; nth < WARMING_ROUNDS; nth++) {
    const calls = Array.from({ length: WARMING_CALLS }, (_, at) => {
      const asked = { id: `warm-${nth}-${at}`, words: 1 }
      return startCall({ port: stand.port, model: PACED_MODEL }, { key: stand.keys.inference_key, asked })
    })
    await Promise.all(calls.map(({ over }) => over))
  }
}

interface Leaving {
  readonly model: string
  readonly callers: number
  /** Milliseconds from its beginning in which a caller leaves. */
  readonly msMax: number
  asked(nth: number): Asked
}

interface Left {
  readonly asked: Asked
  readonly call: PacedCall
}

/** @returns all calls, each of which was left */
async function leave(proof: Proof, { stand }: PacedStand, input: Leaving): Promise<readonly Left[]> {
  const { model, callers, msMax } = input
  const all: Left[] = []
  for (let nth = 0; nth < callers; nth++) {
    const [asked, key] = [input.asked(nth), stand.keys.inference_key]
    const call = startCall({ port: stand.port, model }, { key, asked, more: MORE })
    setTimeout(call.leave, proof.random(msMax))
    all.push({ asked, call })
    // A front that admits a thousand calls at once does little else.
    await pause(REST_MS)
  }
  await Promise.all(all.map(({ call }) => call.over))
  return all
}

async function cancels(proof: Proof, stand: PacedStand, callers: number): Promise<void> {
  const asked = (nth: number): Asked => ({
    id: `cancel-${proof.seed}-${nth}`,
    ...(nth % 2 === 0 ? null : { silentAt: SILENT_AT }),
  })
  const calls = await leave(proof, stand, { model: PACED_MODEL, callers, msMax: LEAVING_MS_MAX, asked })
  await until('all providers are cut', () => stand.provider.open === 0)
  const made = madeOf(stand, calls)
  const others = calls.filter(({ call }) => call.end !== 'left').length
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
  let [estimated, generated] = [0, 0]
  for (const one of made) {
    const row = rows.get(one.call.id)
    if (row === undefined) continue
    estimated += row.output
    generated += one.answer.generated
    if (isApart(row, one)) wrong.push(`${JSON.stringify(row)}, ${one.answer.generated} generated`)
  }
  proof.check(
    'cancel: each call has one row and one record, estimated as what was generated until then',
    wrong.length === 0 && Math.abs(estimated - generated) <= generated * APART_SHARE,
    `${estimated} tokens charged, ${generated} generated; ${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

async function drains(proof: Proof, stand: PacedStand, callers: number): Promise<void> {
  const asked = (nth: number): Asked => ({ id: `drain-${proof.seed}-${nth}`, words: DRAINED_WORDS })
  const msMax = DRAINED_LEAVING_MS_MAX
  const calls = await leave(proof, stand, { model: DRAINED_MODEL, callers, msMax, asked })
  await pause(SEEN_MS)
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
    const isTold = row.kind === 'usage' && row.output === DRAINED_WORDS && row.tokens === PROMPT_TOKENS
    if (one.answer.isWhole ? !isTold : isApart(row, one))
      wrong.push(`${JSON.stringify(row)}, ${one.answer.generated} generated`)
  }
  proof.check(
    'drain: each call has one row and one record, as the provider told its tokens where it was read to its end',
    wrong.length === 0 && whole.length === atOnce,
    `${whole.length} read to the end, ${made.length - whole.length} cut; ${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

interface Made extends Left {
  readonly answer: PacedAnswer
}

/** The calls that came to the provider. */
function madeOf({ provider }: PacedStand, calls: readonly Left[]): readonly Made[] {
  return calls.flatMap((one) => {
    const answer = provider.answers.get(one.call.id)
    return answer === undefined ? [] : [{ ...one, answer }]
  })
}

interface Row {
  readonly id: string
  readonly kind: string
  readonly nano: number
  readonly tokens: number
  readonly output: number
}

/** Whether the row of a call that was cut is no estimate of what was generated until then, or above its bound. */
function isApart({ kind, nano, output }: Row, { asked, answer }: Made): boolean {
  const bound = boundOf(Buffer.byteLength(bodyOf(PACED_MODEL, asked, MORE)), MORE.max_tokens)
  const most = Math.max(APART_WORDS, answer.generated * APART_SHARE)
  return kind !== 'estimated' || nano > bound || Math.abs(output - answer.generated) > most
}

/** The rows of calls by their ids, and what is wrong with their number and with their records. */
async function booked(
  { store: { sql } }: PacedStand,
  made: readonly Made[],
): Promise<{ readonly rows: ReadonlyMap<string, Row>; readonly wrong: string[] }> {
  const ids = made.map(({ call }) => call.id).join(',')
  const found: Row[] = []
  await until('every call has a row', async () => {
    const read = await sql<
      Row[]
    >`SELECT request_id AS id, kind, cost_nano::float8 AS nano, tokens::float8 AS tokens,
      output_tokens::float8 AS output FROM ledger WHERE request_id = ANY(string_to_array(${ids}, ','))`
    found.splice(0, found.length, ...read)
    return new Set(found.map(({ id }) => id)).size === made.length
  })
  const rows = new Map(found.map((row) => [row.id, row]))
  const wrong = found.length === rows.size ? [] : [`${found.length - rows.size} rows too many`]
  const records = async (): Promise<readonly { readonly facts: GenerationFacts }[]> =>
    sql`SELECT facts FROM generations WHERE facts->>'requestId' = ANY(string_to_array(${ids}, ','))`
  await until('every call has a record', async () => (await records()).length >= made.length)
  for (const { facts } of await records()) {
    const isTold = facts.isCancelled && facts.finishReason === null
    if (!isTold || facts.chargedNano !== rows.get(facts.requestId)?.nano) wrong.push(JSON.stringify(facts))
  }
  return { rows, wrong }
}
