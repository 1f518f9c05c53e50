/** Fronts are killed in the midst of hundreds of streams: each is charged what it had come to, once. */
import { workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { PROGRESS_AHEAD_MS, PROGRESS_MS } from '../../../src/schemas/inference/stream-limits.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { clientPortsOf } from '../../support/wire/sockets.ts'
import { checkLedger } from '../check-ledger.ts'
import type { Program, ProgramForm, Proof } from '../proof.ts'
import { bookedOf, paidOf, type Booked } from './paced/booked.ts'
import { bodyOf, startCall, type PacedCall } from './paced/callers.ts'
import { PACED_PAIRS, pairAt, type PacedPair } from './paced/pairs.ts'
import { boundOf, startPacedStand, type PacedStand } from './paced/stand.ts'
import { PROGRESS_BEAT_MS } from '../../../src/server/inference/meter.ts'

const FRONTS = 2
interface Size {
  readonly kills: number
  readonly streams: number
  /** Milliseconds between two words of an answer. */
  readonly wordMs: number
}

const SIZES: Readonly<Record<ProgramForm, { readonly full: Size; readonly short: Size }>> = {
  usual: { full: { kills: 20, streams: 1_000, wordMs: 200 }, short: { kills: 1, streams: 60, wordMs: 200 } },
  // Each pair once, and then one again.
  translated: {
    full: { kills: 10, streams: 600, wordMs: 200 },
    short: { kills: 1, streams: 24, wordMs: 100 },
  },
}
/** Tokens that a call asks for: nearly all of its bound. */
const TOKENS_MAX = 5_000
/** Words after which every stream has reported its progress. */
const WORDS_MIN = 8
/** Milliseconds from the recovery until its money is lent again. */
const USABLE_MS_MAX = 2_000
const OPENED_AT_ONCE = 50
/** A call whose money another front holds is tried again. */
const TRIES_MAX = 100
const TRY_MS = 50

export const program: Program = {
  text: 'kill -9 of a front with 500 streams: each is charged what it had come to, its bound is free, others go on',
  run: (proof) => killAll(proof, 'usual'),
  translated: (proof) => killAll(proof, 'translated'),
}

async function killAll(proof: Proof, form: ProgramForm): Promise<void> {
  const { kills, streams, wordMs } = SIZES[form][proof.isShort ? 'short' : 'full']
  const stand = await startPacedStand(proof, { fronts: FRONTS, wordMs })
  const first = proof.random(PACED_PAIRS[form].length)
  for (let nth = 0; nth < kills; nth++)
    await killOnce({ proof, stand, streams, nth, pair: pairAt(form, first + nth) })
  await checkLedger(proof, stand.stand)
}

interface Round {
  readonly proof: Proof
  readonly stand: PacedStand
  readonly streams: number
  readonly nth: number
  /** Of all calls of the round, whose bounds are to be the same. */
  readonly pair: PacedPair
}

async function killOnce(round: Round): Promise<void> {
  const { proof, stand, streams, nth, pair } = round
  const name = `kill ${nth + 1}, ${pair.name}`
  const nextCall = callsOf(round)
  await setBudget(round)
  const running = await openAll(nextCall, streams)
  const refused = await oneMore(nextCall)
  proof.check(
    `${name}: the budget is full`,
    running.length === streams && refused.status === 403,
    `${running.length} streams; one more: ${refused.status}`,
  )
  await until('all streams have words', () => running.every(({ read }) => read >= WORDS_MIN))
  await pause(proof.random(1_000))
  const { killed, recoveredAt } = await kill(stand, running)
  // The others still hold theirs: what this one gets is what the killed streams held.
  const next = await admitted(nextCall)
  const usableMs = performance.now() - recoveredAt
  proof.check(
    `${name}: its money is lent again`,
    next !== null,
    next === null ? 'never' : 'a call is admitted',
  )
  proof.checkTimed(
    `${name}: within 2 s of the recovery`,
    usableMs <= USABLE_MS_MAX,
    `${usableMs.toFixed(0)} ms`,
  )
  const faults = await faultsOf(proof, stand, killed)
  proof.check(
    `${name}: each of its streams has a row and a record, between what was read and what was generated`,
    faults.length === 0 && killed.length > 0,
    `${killed.length} streams, ${faults.length} wrong ${faults.slice(0, 3).join('; ')}`,
  )
  const rest = running.filter((one) => !killed.includes(one))
  stand.provider.endAll()
  await Promise.all([...rest, ...(next === null ? [] : [next])].map(({ over }) => over))
  const whole = rest.filter(({ end }) => end === 'whole').length
  proof.check(
    `${name}: the streams of the other front go on to their end`,
    whole === rest.length,
    `${whole} of ${rest.length}`,
  )
  const gapMs = rest.reduce((most, one) => Math.max(most, one.gapMs), 0)
  proof.say(`${name}: the longest time between two reads of the others: ${gapMs.toFixed(0)} ms`)
}

/** Ids of one length: all calls of a round have the same bound. */
function idOf({ proof, nth }: Round, count: number): string {
  const begin = `crash-${String(proof.seed).padStart(10, '0')}-${String(nth).padStart(2, '0')}`
  return `${begin}-${String(count).padStart(5, '0')}`
}

/** @returns begins a call */
function callsOf(round: Round): () => PacedCall {
  const { dialect, paced: model } = round.pair
  const { port, keys } = round.stand.stand
  let count = 0
  return () => {
    const asking = { dialect, asked: { id: idOf(round, count++) }, tokensMax: TOKENS_MAX }
    return startCall({ port, model }, { key: keys.inference_key, ...asking })
  }
}

/** The budget holds the calls of the round, and half of another one. */
async function setBudget(round: Round): Promise<void> {
  const { stand, streams, pair } = round
  await stand.untilReturned()
  const { workspace_id: workspaceId } = stand.stand.keys
  const { spentNano } = await stand.account(workspaceAccount(workspaceId))
  const asking = { dialect: pair.dialect, asked: { id: idOf(round, 0) }, tokensMax: TOKENS_MAX }
  const bodyBytes = Buffer.byteLength(bodyOf(pair.paced, asking))
  const bound = boundOf({ bodyBytes, tokensMax: TOKENS_MAX, isTranslated: pair.isTranslated })
  const limitUsd = (Number(spentNano) + (streams + 0.5) * bound) / 1e9
  await stand.manage('PUT', `/workspaces/${workspaceId}/budgets/lifetime`, { limit_usd: limitUsd })
}

async function openAll(nextCall: () => PacedCall, streams: number): Promise<readonly PacedCall[]> {
  const open: PacedCall[] = []
  let left = streams
  const opener = async (): Promise<void> => {
    while (left-- > 0) {
      const one = await admitted(nextCall)
      if (one !== null) open.push(one)
    }
  }
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, opener))
  return open
}

/** A call that is answered about its money, which a slow store may be too late for. */
async function oneMore(nextCall: () => PacedCall): Promise<PacedCall> {
  for (let tries = 1; ; tries++) {
    const one = nextCall()
    await one.begun
    if (one.status === 200 || one.status === 403 || tries === TRIES_MAX) return one
    await pause(TRY_MS)
  }
}

/** A call that is admitted, by whichever try; null: none is. */
async function admitted(nextCall: () => PacedCall): Promise<PacedCall | null> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const one = nextCall()
    await one.begun
    if (one.status === 200) return one
    await pause(TRY_MS)
  }
  return null
}

/** Ends the front that has most of the streams. */
async function kill(
  { stand }: PacedStand,
  running: readonly PacedCall[],
): Promise<{ readonly killed: readonly PacedCall[]; readonly recoveredAt: number }> {
  const recoveries = (): number => stand.output().split('"journal_recovered"').length
  const before = recoveries()
  const fronts = stand.fronts().map((pid) => {
    const ports = clientPortsOf(pid, stand.port)
    return { pid, calls: running.filter(({ localPort }) => ports.has(localPort)) }
  })
  const [victim] = fronts.sort((one, other) => other.calls.length - one.calls.length)
  if (victim === undefined) throw new Error('the stand has no front')
  process.kill(victim.pid, 'SIGKILL')
  await until('a recovery', () => recoveries() > before)
  const recoveredAt = performance.now()
  await Promise.all(victim.calls.map(({ over }) => over))
  return { killed: victim.calls, recoveredAt }
}

/** What the books and the records say of killed streams that is not so. */
async function faultsOf(
  { isShort }: Proof,
  stand: PacedStand,
  killed: readonly PacedCall[],
): Promise<readonly string[]> {
  const booked = await bookedOf(stand, killed)
  // A front that stood still notes a stream in the journal before it reads the bytes that came meanwhile.
  const unreportedWords = isShort ? Math.ceil((PROGRESS_MS + PROGRESS_BEAT_MS) / stand.wordMs) : 0
  return killed.flatMap((one) => {
    const wrong = wrongOf({ ...stand, unreportedWords }, one, booked(one))
    return wrong === null ? [] : [`${one.id}: ${wrong}`]
  })
}

function wrongOf(
  {
    provider,
    wordMs,
    unreportedWords,
  }: Pick<PacedStand, 'provider' | 'wordMs'> & { readonly unreportedWords: number },
  one: PacedCall,
  booked: Booked,
): string | null {
  const found = paidOf(one, booked)
  if (!found.ok) return found.wrong
  const { row, facts } = found
  const { output } = facts.usage
  if (row.kind !== 'estimated') return JSON.stringify(row)
  if (facts.finishReason !== 'error' || !facts.isEstimated || facts.isCancelled) return JSON.stringify(facts)
  const answer = provider.answers.get(one.id)
  if (answer === undefined || answer.endedAt === null) return 'its provider was not cut'
  // A part of a token is one.
  const most = answer.generated + PROGRESS_AHEAD_MS / wordMs + 1
  const isSo = output >= one.read - unreportedWords && output <= most
  return isSo ? null : `${output} tokens, ${one.read} read, at most ${most}`
}
