/** A revoked key is refused by every front, by each of the three ways that news travels. */
import { setTimeout as after } from 'node:timers/promises'
import type { Invalidation } from '../../../src/server/ports/keys/keys.ts'
import { endKey, revokeKey } from '../../../src/server/store/keys/api-keys.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { connected } from '../../support/wire/connected.ts'
import { gate } from '../../support/gate.ts'
import { monotonicMs, type LoadResult } from '../../support/load/load-plan.ts'
import { lentPostgres, outsidePostgres } from '../../support/nodes/outside-stores.ts'
import { tree } from '../../support/load/process-cpu.ts'
import { manage } from '../../support/nodes/manage.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { served } from '../../support/wire/served.ts'
import { loadOnBoth } from '../both-fronts.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const CONNECTIONS = 16
/**
 * Requests a second of the short form, which then leaves cores for what it waits for: still one every ten
 * milliseconds.
 */
const SHORT_RATE_PER_S = 100
const WITH_HINT_MS = 250
const BY_POLL_MS = 1_500
const GIVE_UP_MS = 120_000

export const program: Program = {
  text: 'keys revoked under load on two fronts: with --wait, by hint within 250 ms, by poll within 1.5 s, in crossed order',
  async run(proof) {
    const postgres = await (proof.isShort ? lentPostgres() : outsidePostgres())
    proof.after(() => postgres.close())
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2', DATABASE_URL: postgres.url } })
    proof.after(() => stand.stop())
    const store = await connected(
      openStore({
        url: postgres.url,
        poolMax: 4,
        applicationName: 'sluice-prove',
        // Changes wait for each other here, on a slow machine for seconds.
        lockMsMax: GIVE_UP_MS,
      }),
    )
    proof.after(() => store.close())
    const revoking: Revoking = { proof, stand, store, tries: proof.isShort ? 1 : 20 }
    await waited(revoking)
    await hinted(revoking)
    await polled(revoking)
    await crossed(revoking)
  },
}

interface Revoking {
  readonly proof: Proof
  readonly stand: Stand
  readonly store: Store
  readonly tries: number
}

interface Key {
  readonly hash: string
  readonly key: string
}

/** One key under load on both fronts while `revoke` runs; its answer is the instant that counts. */
async function underLoad(
  revoking: Revoking,
  keys: readonly Key[],
  revoke: () => Promise<number>,
  tailMs: number,
): Promise<Try> {
  const { load, fronts } = await startUnder(revoking, keys)
  for (const { key } of keys) await accepted(revoking.stand, key)
  const at = await revoke()
  await after(tailMs)
  const result = await load.stop()
  // On a machine that stood still nothing was asked, or nothing heard, in that time.
  const settled = (result.statuses[401] ?? 0) > 0 ? {} : await untilRefused(revoking, keys)
  return { at, fronts, result, settled }
}

/** What was never accepted would be refused without a revocation. */
async function accepted(stand: Stand, key: string): Promise<void> {
  const { method, path, headers, body } = stand.embeddings(key)
  const sent = { method, headers: { ...headers, connection: 'close' }, body }
  const { status } = await served(async () => {
    const answer = await fetch(`http://127.0.0.1:${stand.port}${path}`, sent)
    await answer.arrayBuffer()
    return answer
  })
  if (status !== 200) throw new Error(`a key is answered by ${status} before it is revoked`)
}

function startUnder({ proof, stand }: Revoking, keys: readonly Key[]): ReturnType<typeof loadOnBoth> {
  return loadOnBoth(stand, {
    requests: keys.map(({ key }) => stand.embeddings(key)),
    connections: CONNECTIONS,
    ...(proof.isShort && { ratePerSMax: SHORT_RATE_PER_S }),
  })
}

interface Try {
  readonly at: number
  /** Fronts that had connections of this load. */
  readonly fronts: number
  readonly result: LoadResult
  /** What was answered later, until the keys were refused; empty where they were before. */
  readonly settled: LoadResult['statuses']
}

/** Requests that began later than `ms` after the instant and were accepted. */
function late(tried: Try, ms: number): number {
  return tried.result.rows.filter((row) => row.startedAt > tried.at + ms && row.status === 200).length
}

/** Milliseconds from the instant to the start of the last request that was accepted. */
function lastAccepted(tried: Try): number {
  return Math.max(
    0,
    ...tried.result.rows.filter((row) => row.status === 200).map((row) => row.startedAt - tried.at),
  )
}

function report(proof: Proof, name: string, tries: readonly Try[], ms: number): void {
  const bad = tries.filter((tried) => late(tried, ms) > 0).length
  const all = tries.map(({ result, settled }) => [result.statuses, settled])
  const refused = all.every((both) => both.some((statuses) => (statuses[401] ?? 0) > 0))
  const both = tries.filter((tried) => tried.fronts === 2).length
  const text = `${name}: none that began more than ${ms} ms later is accepted`
  const found =
    `${tries.length - bad} of ${tries.length} tries, ` +
    `last accepted after ${Math.max(...tries.map(lastAccepted)).toFixed(1)} ms`
  if (ms === 0) proof.check(text, bad === 0, found)
  else proof.checkTimed(text, bad === 0, found)
  proof.check(
    `${name}: both fronts are under load`,
    both === tries.length,
    `in ${both} of ${tries.length} tries`,
  )
  proof.check(
    `${name}: the key is refused in the end, and every answer is 200 or 401`,
    refused &&
      all
        .flat()
        .every((statuses) => Object.keys(statuses).every((status) => ['200', '401'].includes(status))),
    all.map((both) => both.map((statuses) => tally(statuses)).join(', then ')).join(' | '),
  )
}

/** `--wait` returns when every live front has obeyed. */
async function waited(revoking: Revoking): Promise<void> {
  const { proof, stand, tries: count } = revoking
  const tries: Try[] = []
  for (let round = 0; round < count; round++) {
    const key = await made(stand)
    tries.push(
      await underLoad(
        revoking,
        [key],
        async () => {
          await stand.cli('keys', 'revoke', key.hash, '--wait')
          return monotonicMs()
        },
        300,
      ),
    )
    proof.say(
      `with --wait ${round + 1}: last accepted ${lastAccepted(tries.at(-1) as Try).toFixed(1)} ms after its return`,
    )
  }
  report(proof, 'with --wait', tries, 0)
}

/**
 * The instant is that of the revoking transaction's start, a little before its commit: the stricter of the
 * two.
 */
async function hinted(revoking: Revoking): Promise<void> {
  const { proof, stand, store, tries: count } = revoking
  const tries: Try[] = []
  for (let round = 0; round < count; round++) {
    const key = await made(stand)
    tries.push(
      await underLoad(
        revoking,
        [key],
        async () => {
          await stand.cli('keys', 'revoke', key.hash)
          const [row] = await store.sql<
            { revoked_at: Date }[]
          >`SELECT revoked_at FROM api_keys WHERE hash = ${key.hash}`
          return monotonicMs() - (Date.now() - (row?.revoked_at.getTime() ?? Number.NaN))
        },
        600,
      ),
    )
    proof.say(
      `by hint ${round + 1}: last accepted ${lastAccepted(tries.at(-1) as Try).toFixed(1)} ms after the commit`,
    )
  }
  report(proof, 'by hint', tries, WITH_HINT_MS)
}

/** The commit is made here without a hint, so that only the poll finds it. Redis is frozen meanwhile. */
async function polled(revoking: Revoking): Promise<void> {
  const { proof, stand, store, tries: count } = revoking
  const keys = await Promise.all(Array.from({ length: count }, () => made(stand)))
  const redis = tree(stand.pid).find(
    (row) => /redis/.test(`${row.name} ${row.arguments.join(' ')}`) && row.parent === stand.pid,
  )
  if (redis !== undefined) process.kill(redis.pid, 'SIGSTOP')
  const tries: Try[] = []
  try {
    for (const [round, key] of keys.entries()) {
      tries.push(
        await underLoad(
          revoking,
          [key],
          async () => {
            await revokeKey(store, key.hash, { actor: { kind: 'system', id: null }, requestId: null })
            return monotonicMs()
          },
          BY_POLL_MS + 500,
        ),
      )
      proof.say(
        `by poll ${round + 1}: last accepted ${lastAccepted(tries.at(-1) as Try).toFixed(1)} ms after the commit`,
      )
    }
  } finally {
    if (redis !== undefined) process.kill(redis.pid, 'SIGCONT')
  }
  report(proof, `by poll alone, Redis ${redis === undefined ? 'not found' : 'frozen'}`, tries, BY_POLL_MS)
}

/**
 * Three revocations whose transactions overlap. A plain sequence would number them as they ask: fronts that
 * poll between two commits would then see the higher number first, and never look for the lower one.
 */
async function crossed(revoking: Revoking): Promise<void> {
  const { proof, stand, store } = revoking
  const keys = [await made(stand), await made(stand), await made(stand)]
  const found: Crossing[] = []
  const tried = await underLoad(
    revoking,
    keys,
    async () => {
      found.push(await cross(store, keys))
      return monotonicMs()
    },
    BY_POLL_MS + 1_000,
  )
  const [{ numbers, hasWaited } = { numbers: [], hasWaited: false }] = found
  proof.check('crossed: both fronts are under load', tried.fronts === 2, `${tried.fronts} of 2`)
  proof.check(
    'crossed: a change waits for one that has its number and has not committed',
    hasWaited,
    `it ${hasWaited ? 'waited' : 'passed'}`,
  )
  proof.check(
    'crossed: the numbers are in the order of the commits',
    numbers.length === 3 && numbers.every((n, at) => at === 0 || n > (numbers[at - 1] ?? n)),
    numbers.join(', '),
  )
  const settled = await untilRefused(revoking, keys)
  proof.check(
    'crossed: all revocations are seen, whichever began, was numbered or committed first',
    settled[200] === undefined && (settled[401] ?? 0) > 0,
    tally(settled),
  )
  proof.checkTimed(
    `crossed: none that began more than ${BY_POLL_MS} ms later is accepted`,
    late(tried, BY_POLL_MS) === 0,
    `last accepted after ${lastAccepted(tried).toFixed(1)} ms`,
  )
}

/** What both fronts answer once they refuse the keys, or when the patience of a slow machine is over. */
async function untilRefused(revoking: Revoking, keys: readonly Key[]): Promise<LoadResult['statuses']> {
  const giveUpAt = monotonicMs() + GIVE_UP_MS
  for (;;) {
    const { load } = await startUnder(revoking, keys)
    const { statuses } = await load.stop()
    if ((statuses[200] === undefined && (statuses[401] ?? 0) > 0) || monotonicMs() > giveUpAt) return statuses
  }
}

interface Crossing {
  /** In the order of the commits. */
  readonly numbers: readonly number[]
  /** The second change had not committed for as long as the first one held its number. */
  readonly hasWaited: boolean
}

async function cross(store: Store, keys: readonly Key[]): Promise<Crossing> {
  const [oldest = '', numbered = '', quick = ''] = keys.map((key) => key.hash)
  const commits: Invalidation[] = []
  const revoke = async (hash: string, deps: EngineDeps = {}): Promise<void> => {
    const change = await store.sql.begin(async (tx) => {
      await tx`SELECT txid_current()`
      // It rests here until the next one has its turn, on a slow machine for longer than a transaction may.
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`
      await deps.before?.()
      const ended = await endKey(tx, hash)
      await deps.after?.()
      return ended
    })
    if (change !== null) commits.push(change)
  }
  const [hasBegun, mayNumber, hasNumber, mayCommit] = [gate(), gate(), gate(), gate()]
  const first = revoke(oldest, {
    before: () => {
      hasBegun.open()
      return mayNumber.opened
    },
  })
  await hasBegun.opened
  let isSecondFree = false
  const second = revoke(numbered, {
    after: () => {
      hasNumber.open()
      return mayCommit.opened
    },
  })
  await hasNumber.opened
  let hasWaited = true
  const third = revoke(quick, {
    after: async () => {
      hasWaited = isSecondFree
      // The server ends one transaction after the other, but either answer may be read first.
      if (hasWaited) await second
    },
  })
  // Fronts poll meanwhile: what commits now is seen now.
  await after(BY_POLL_MS)
  isSecondFree = true
  mayCommit.open()
  await Promise.all([second, third])
  await after(BY_POLL_MS)
  mayNumber.open()
  await first
  return { numbers: commits.map((change) => change.n), hasWaited }
}

interface EngineDeps {
  before?(): Promise<void>
  after?(): Promise<void>
}

/** By the management API: the command line is not what is revoked. */
async function made(stand: Stand): Promise<Key> {
  const { workspace_id } = stand.keys
  const { key, data } = (await manage(stand, 'POST', '/keys', { name: 'revoked soon', workspace_id })) as {
    key: string
    data: { hash: string }
  }
  return { hash: data.hash, key }
}
