/** Ending nodes and replaced fronts let streams go on as long as they may, and end the rest with an error. */
import { isGone } from '../../support/nodes/node.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { DRAIN_MS } from '../../../src/schemas/limits/limits.ts'
import { checkLedger } from '../check-ledger.ts'
import type { Program, Proof } from '../proof.ts'
import { checkCharged } from './paced/charged.ts'
import { startCall, type PacedCall } from './paced/callers.ts'
import { drawDialect } from './paced/dialects.ts'
import { DRAINED_MODEL, PACED_MODEL, startPacedStand, type PacedStand } from './paced/stand.ts'

interface Size {
  readonly streams: number
  readonly fronts: number
  readonly wordMs: number
  readonly drainMs: number
  /** Milliseconds of a stream while fronts are replaced: twice the drain. */
  readonly longMs: number
  /** Milliseconds of the shortest and of the longest stream while the node ends. */
  readonly lengths: readonly [number, number]
  /** Reloads that follow each other when streams have had time. */
  readonly reloads: number
  /** Reloads that come too soon, and the milliseconds between two of them. */
  readonly hasty: number
  readonly hastyMs: number
  /** Milliseconds for which a front may stand still when it cuts, and be late with what had come. */
  readonly lateMs: number
}

const FULL: Size = {
  streams: 200,
  fronts: 2,
  wordMs: 200,
  drainMs: DRAIN_MS,
  longMs: 60_000,
  lengths: [5_000, 60_000],
  reloads: 5,
  hasty: 5,
  hastyMs: 2_000,
  lateMs: 0,
}
const SHORT: Size = {
  streams: 30,
  fronts: 1,
  // Few words at an unhurried pace: a slow machine has calls to begin in the time of a drain.
  wordMs: 500,
  drainMs: 5_000,
  longMs: 15_000,
  lengths: [1_000, 10_000],
  // A front that is replaced stays 12 s for idle connections, so that more than two reloads take as long.
  reloads: 0,
  hasty: 2,
  hastyMs: 500,
  lateMs: 2_500,
}
const MODELS = [PACED_MODEL, DRAINED_MODEL]
/** Share of the drain that a reload waits after the one before, besides the whole of it. */
const SLACK = 0.2
/** Milliseconds of a timer of the node, and of an event on its way, on an idle machine. */
const LATE_MS_MAX = 2_000

export const program: Program = {
  text: 'SIGTERM under streams of 5 to 60 s, and five reloads under streams of 60 s: who has time ends, all are charged',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const { fronts, wordMs, drainMs } = size
    const settings = { SLUICE_DRAIN_MS: String(drainMs) }
    const stand = await startPacedStand(proof, { fronts, wordMs, settings })
    const drain: Drain = { proof, stand, size, nextId: idsOf(proof) }
    if (size.reloads > 0) await reloadsInTurn(drain)
    await hastyReloads(drain)
    await sigterm(drain)
    await checkLedger(proof, stand.stand)
  },
}

interface Drain {
  readonly proof: Proof
  readonly stand: PacedStand
  readonly size: Size
  readonly nextId: () => string
}

function idsOf(proof: Proof): () => string {
  let count = 0
  return () => `drain-${proof.seed}-${count++}`
}

function stream({ proof, stand: { stand }, size, nextId }: Drain, ms: number): PacedCall {
  // A node that ends reads on at no provider: the second one's streams end as the first one's.
  const model = MODELS[proof.random(MODELS.length)] ?? PACED_MODEL
  const to = { port: stand.port, model }
  const asked = { id: nextId(), words: Math.round(ms / size.wordMs) }
  const dialect = drawDialect((below) => proof.random(below))
  return startCall(to, { key: stand.keys.inference_key, dialect, asked })
}

async function openAll(drain: Drain, lengthOf: () => number): Promise<readonly PacedCall[]> {
  const calls = Array.from({ length: drain.size.streams }, () => stream(drain, lengthOf()))
  await Promise.all(calls.map(({ begun }) => begun))
  return calls
}

/**
 * A front that is replaced has its streams until the next reload, and from then on the time of a drain: each
 * reload here comes a drain after the end of the one before, so that streams of two drains never break. D34.
 */
async function reloadsInTurn(drain: Drain): Promise<void> {
  const { proof, stand, size } = drain
  const calls: PacedCall[] = []
  let isEnded = false
  const caller = async (nth: number): Promise<void> => {
    // Spread, so that at each instant streams are at every place of theirs.
    await pause((nth / size.streams) * (size.longMs / 2))
    while (!isEnded) {
      const call = stream(drain, size.longMs)
      calls.push(call)
      await call.over
    }
  }
  const callers = Promise.all(Array.from({ length: size.streams }, (_, nth) => caller(nth)))
  await until('every caller has a stream', () => calls.length >= size.streams)
  for (let nth = 0; nth < size.reloads; nth++) {
    await stand.stand.cli('reload')
    if (nth < size.reloads - 1) await pause(size.drainMs * (1 + SLACK))
  }
  isEnded = true
  await callers
  const broken = calls.filter(({ end }) => end !== 'whole')
  proof.check(
    `${size.reloads} reloads, each ${size.drainMs / 1_000} s behind the one before: no stream of ${size.longMs / 1_000} s breaks`,
    broken.length === 0 && calls.length >= size.streams,
    `${broken.length} of ${calls.length} ${broken[0]?.refusal ?? ''}`,
  )
  await checkCharged(proof, stand, { name: 'reloads in turn', calls })
}

/** One generation waits: streams of an older one have the time of a drain from the second reload on. D34. */
async function hastyReloads(drain: Drain): Promise<void> {
  const { proof, stand, size } = drain
  const name = `${size.hasty} reloads at once`
  const calls = await openAll(drain, () => size.longMs)
  const hastyAt: number[] = []
  for (let nth = 0; nth < size.hasty; nth++) {
    process.kill(stand.stand.pid, 'SIGHUP')
    hastyAt.push(performance.now())
    await pause(size.hastyMs)
  }
  const later = stream(drain, size.wordMs)
  await Promise.all([...calls, later].map(({ over }) => over))
  checkCut(drain, name, { calls, cutFrom: (hastyAt[1] ?? 0) + size.drainMs })
  proof.check('a call that begins between them is answered', later.end === 'whole', later.end)
  // What was asked for is carried out before this one ends. Two reloads leave nothing that matters.
  if (size.hasty > 2) await stand.stand.cli('reload')
  await checkCharged(proof, stand, { name, calls: [...calls, later] })
}

async function sigterm(drain: Drain): Promise<void> {
  const { proof, stand, size } = drain
  const [shortest, longest] = size.lengths
  const calls = await openAll(drain, () => shortest + proof.random(longest - shortest))
  process.kill(stand.stand.pid, 'SIGTERM')
  const termAt = performance.now()
  await Promise.all(calls.map(({ over }) => over))
  await until('the node has ended', () => isGone(stand.stand.pid))
  checkCut(drain, 'SIGTERM', { calls, cutFrom: termAt + size.drainMs })
  const lastMs = calls.reduce((most, { endedAt }) => Math.max(most, endedAt - termAt - size.drainMs), 0)
  proof.checkTimed(
    `SIGTERM: the last stream ends at most ${LATE_MS_MAX} ms later`,
    lastMs <= LATE_MS_MAX,
    `${lastMs.toFixed(0)} ms`,
  )
  await checkCharged(proof, stand, { name: 'SIGTERM', calls })
}

/** @param cutFrom `performance.now()` from which on streams may be cut */
function checkCut(
  { proof, stand: { provider }, size }: Drain,
  name: string,
  { calls, cutFrom }: { readonly calls: readonly PacedCall[]; readonly cutFrom: number },
): void {
  const cut = calls.filter(({ end }) => end !== 'whole')
  const early = cut.filter(({ id, endedAt }) => {
    const answer = provider.answers.get(id)
    // What a provider ends while streams are cut may come too late.
    const isEnded = answer?.isWhole === true && (answer.endedAt ?? cutFrom) < cutFrom - size.lateMs
    return endedAt < cutFrom || isEnded
  })
  proof.check(
    `${name}: no stream is cut before ${size.drainMs / 1_000} s are over, nor one that its provider had ended`,
    early.length === 0,
    `${early.length} of ${cut.length} that were cut, of ${calls.length}`,
  )
  const reported = cut.filter(
    ({ end, refusal, failures }) => end === 'broken' && refusal === 'draining' && failures === 1,
  )
  proof.check(
    `${name}: each stream that is cut is told \`draining\`, once, in an answer without an end`,
    reported.length === cut.length,
    `${reported.length} of ${cut.length}`,
  )
  const found = `${calls.length - cut.length} of ${calls.length} end`
  proof.checkTimed(`${name}: streams are cut`, cut.length > 0, found)
}
