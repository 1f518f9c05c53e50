/** Fronts are killed in the midst of hundreds of streams: each is charged what it had come to, once. */
import { workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import type { GenerationFacts } from '../../../src/server/ports/inference/generations.ts'
import { PROGRESS_AHEAD_MS } from '../../../src/schemas/inference/stream-limits.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { clientPortsOf } from '../../support/wire/sockets.ts'
import type { Program, Proof } from '../proof.ts'
import { bodyOf, startCall, type PacedCall } from './paced-callers.ts'
import {
  boundOf,
  COMPLETION_NANO,
  PACED_MODEL,
  PROMPT_NANO,
  startPacedStand,
  type PacedStand,
} from './paced-stand.ts'

const FRONTS = 2
const FULL = { kills: 20, streams: 1_000 }
const SHORT = { kills: 1, streams: 60 }
/** Milliseconds between two words of an answer. */
const WORD_MS = 200
/** What a call asks for: nearly all of its bound. */
const MORE = { max_tokens: 5_000 }
/** Words behind which every stream has told of itself. */
const WORDS_MIN = 8
/** Milliseconds from the recovery until its money is lent again. */
const USABLE_MS_MAX = 2_000
const RETURNED_MS_MAX = 30_000
const OPENED_AT_ONCE = 50
/** A call whose money another front holds is tried again. */
const TRIES_MAX = 100
const TRY_MS = 50

export const program: Program = {
  text: 'kill -9 of a front with 500 streams: each is charged what it had come to, its bound is free, others go on',
  async run(proof) {
    const { kills, streams } = proof.isShort ? SHORT : FULL
    const stand = await startPacedStand(proof, { fronts: FRONTS, wordMs: WORD_MS })
    for (let nth = 0; nth < kills; nth++) await killOnce({ proof, stand, streams, nth })
    const checked = await stand.stand
      .cli('ledger', 'check')
      .catch((problem: unknown) => ({ failed: String(problem) }))
    const found = JSON.stringify(checked).slice(0, 300)
    proof.check('the ledger explains every counter', !('failed' in checked), found)
  },
}

interface Round {
  readonly proof: Proof
  readonly stand: PacedStand
  readonly streams: number
  readonly nth: number
}

async function killOnce({ proof, stand, streams, nth }: Round): Promise<void> {
  const name = `kill ${nth + 1}`
  const nextId = idsOf(proof, nth)
  await setBudget(stand, nextId(), streams)
  const running = await openAll(stand, nextId, streams)
  const refused = call(stand, nextId())
  await refused.begun
  proof.check(
    `${name}: the budget is full`,
    running.length === streams && refused.status === 403,
    `${running.length} streams; one more: ${refused.status}`,
  )
  await until('all streams have words', () => running.every(({ read }) => read >= WORDS_MIN))
  await pause(proof.random(1_000))
  const { killed, recoveredAt } = await kill(stand, running)
  // The others still hold theirs: what this one gets is what the killed streams held.
  const next = await admitted(stand, nextId)
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
  const faults = await faultsOf(stand, killed)
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

/** Ids of one length: all calls of a proof have the same bound. */
function idsOf(proof: Proof, round: number): () => string {
  const begin = `crash-${String(proof.seed).padStart(10, '0')}-${String(round).padStart(2, '0')}`
  let count = 0
  return () => `${begin}-${String(count++).padStart(5, '0')}`
}

function call({ stand }: PacedStand, id: string): PacedCall {
  const to = { port: stand.port, model: PACED_MODEL }
  return startCall(to, { key: stand.keys.inference_key, asked: { id }, more: MORE })
}

/** The budget holds so many calls, and half of another one. */
async function setBudget(stand: PacedStand, id: string, streams: number): Promise<void> {
  await stand.untilReturned(RETURNED_MS_MAX)
  const { workspace_id: workspaceId } = stand.stand.keys
  const { spentNano } = await stand.account(workspaceAccount(workspaceId))
  const bound = boundOf(Buffer.byteLength(bodyOf(PACED_MODEL, { id }, MORE)), MORE.max_tokens)
  const limitUsd = (Number(spentNano) + (streams + 0.5) * bound) / 1e9
  await stand.manage('PUT', `/workspaces/${workspaceId}/budgets/lifetime`, { limit_usd: limitUsd })
}

async function openAll(
  stand: PacedStand,
  nextId: () => string,
  streams: number,
): Promise<readonly PacedCall[]> {
  const open: PacedCall[] = []
  let left = streams
  const opener = async (): Promise<void> => {
    while (left-- > 0) {
      const one = await admitted(stand, nextId)
      if (one !== null) open.push(one)
    }
  }
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, opener))
  return open
}

/** A call that is admitted, by whichever try; null: none is. */
async function admitted(stand: PacedStand, nextId: () => string): Promise<PacedCall | null> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const one = call(stand, nextId())
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

interface Row {
  readonly id: string
  readonly kind: string
  readonly nano: number
}

interface Kept {
  readonly id: string
  readonly facts: GenerationFacts
}

/** What the books and the records say of killed streams that is not so. */
async function faultsOf(stand: PacedStand, killed: readonly PacedCall[]): Promise<readonly string[]> {
  const { sql } = stand.store
  const ids = killed.map(({ id }) => id).join(',')
  const rows = await sql<Row[]>`SELECT request_id AS id, kind, cost_nano::float8 AS nano FROM ledger
    WHERE request_id = ANY(string_to_array(${ids}, ','))`
  const generations = killed.map(({ generationId }) => generationId).join(',')
  const kept = await sql<Kept[]>`SELECT id, facts FROM generations
    WHERE id = ANY(string_to_array(${generations}, ','))`
  return killed.flatMap((one) => {
    const own = rows.filter(({ id }) => id === one.id)
    const records = kept.filter(({ id }) => id === one.generationId)
    const wrong = wrongOf(stand, one, { own, records })
    return wrong === null ? [] : [`${one.id}: ${wrong}`]
  })
}

function wrongOf(
  { provider, wordMs }: PacedStand,
  one: PacedCall,
  { own, records }: { readonly own: readonly Row[]; readonly records: readonly Kept[] },
): string | null {
  const [row, record] = [own[0], records[0]?.facts]
  if (own.length !== 1 || row?.kind !== 'estimated') return JSON.stringify(own)
  if (records.length !== 1 || record === undefined) return `${records.length} records`
  const { usage, chargedNano, finishReason, isEstimated, isCancelled } = record
  if (finishReason !== 'error' || !isEstimated || isCancelled) return JSON.stringify(record)
  const { input, output } = usage
  const cost = input * PROMPT_NANO + output * COMPLETION_NANO
  if (cost !== row.nano || cost !== chargedNano)
    return `${cost} is booked as ${row.nano}, told as ${chargedNano}`
  const answer = provider.answers.get(one.id)
  if (answer === undefined || answer.endedAt === null) return 'its provider was not cut'
  // A part of a token is one.
  const most = answer.generated + PROGRESS_AHEAD_MS / wordMs + 1
  return output >= one.read && output <= most ? null : `${output} tokens, ${one.read} read, at most ${most}`
}
