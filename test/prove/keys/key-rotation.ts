/** A key that is rotated under load on two fronts. */
import { setTimeout as after } from 'node:timers/promises'
import { monotonicMs, type LoadResult, type LoadRow } from '../../support/load/load-plan.ts'
import { manage } from '../../support/nodes/manage.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { loadOnBoth } from '../both-fronts.ts'
import { tally, type Program, type Proof } from '../proof.ts'

/** Connections of the load of each key, and its requests a second; in short no more than are answered. */
const CONNECTIONS = 8
const RATE_PER_S = { full: 200, short: 60 }
/** Milliseconds for which the load continues after the end of the overlap. */
const TAIL_MS = 1_000
const WITH_HINT_MS = 250
/** Calls with the same answer after which it is that of both fronts, and milliseconds until it must be. */
const CALLS_IN_ROW = 12
const LOOK_MS = 300
const GIVE_UP_MS = 90_000

export const program: Program = {
  text: 'a key rotated under load on two fronts: no failed request in the overlap, none accepted after it',
  async run(proof) {
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2' } })
    proof.after(() => stand.stop())
    let key = await made(stand, { name: 'rotated' })
    for (let round = 0; round < (proof.isShort ? 1 : 10); round++) {
      key = await overlapping(proof, stand, key, proof.isShort ? 2 : 5)
    }
    await atOnce(proof, stand, key)
    await limited(proof, stand)
  },
}

interface Key {
  readonly hash: string
  readonly key: string
}

function keyOf({ hash, key }: Record<string, unknown>): Key {
  return { hash: String(hash), key: String(key) }
}

async function made(stand: Stand, more: object): Promise<Key> {
  const { key, data } = await manage(stand, 'POST', '/keys', {
    workspace_id: stand.keys.workspace_id,
    ...more,
  })
  return keyOf({ ...(data as object), key })
}

/** @returns the new key */
async function overlapping(proof: Proof, stand: Stand, old: Key, overlapS: number): Promise<Key> {
  const oldLoad = await loadOf(proof, stand, old)
  const rotated = await stand.cli('keys', 'rotate', old.hash, '--overlap', String(overlapS))
  const ends = instantOf(rotated)
  const fresh = keyOf(rotated)
  const newLoad = await loadOf(proof, stand, fresh)
  await after(Math.max(0, ends.latest - monotonicMs()) + TAIL_MS)
  const [before, behind] = [await oldLoad.load.stop(), await newLoad.load.stop()]
  // A load that stood still after the end has asked nothing then.
  const ended = await settled(stand, old, 401)
  const inTime = before.rows.filter((row) => row.endedAt < ends.earliest)
  const late = before.rows.filter((row) => row.startedAt > ends.latest)
  proof.check(
    'both fronts are under load by both keys',
    oldLoad.fronts === 2 && newLoad.fronts === 2,
    `${oldLoad.fronts} and ${newLoad.fronts} of 2`,
  )
  proof.check(
    'no request by the old key fails before the overlap ends',
    inTime.length > 0 && inTime.every(isGood),
    reported(inTime),
  )
  proof.check(
    'none by it is accepted that began behind the end',
    (late.length > 0 || ended === 401) && late.every((row) => row.status === 401),
    `${reported(late)}, then ${ended}`,
  )
  proof.check(
    'no request by the new key fails',
    behind.rows.length > 0 && behind.rows.every(isGood),
    tally(behind.statuses),
  )
  const [usedByOld = 0, usedByNew = 0] = await usages(stand, [old, fresh])
  proof.check(
    'what both used is one sum',
    usedByOld > 0 && usedByOld === usedByNew,
    `${usedByOld} and ${usedByNew} USD`,
  )
  return fresh
}

/** In USD. Read again while they differ: fronts book after their answers, also between two readings. */
async function usages(stand: Stand, keys: readonly Key[]): Promise<readonly number[]> {
  const giveUpAt = monotonicMs() + GIVE_UP_MS
  for (;;) {
    const used: number[] = []
    for (const { hash } of keys) {
      const { data } = await manage(stand, 'GET', `/keys/${hash}`)
      used.push(Number((data as { usage?: number }).usage))
    }
    await after(LOOK_MS)
    if (new Set(used).size === 1 || monotonicMs() > giveUpAt) return used
  }
}

/** Without an overlap it is as with a revocation: fronts obey when they hear of it. */
async function atOnce(proof: Proof, stand: Stand, old: Key): Promise<void> {
  const { load } = await loadOf(proof, stand, old)
  const rotated = await stand.cli('keys', 'rotate', old.hash, '--overlap', '0')
  const endsAt = instantOf(rotated).latest
  // Both fronts have heard of it, and the load then asks both of them.
  await settled(stand, old, 401)
  await after(TAIL_MS)
  const { rows, statuses }: LoadResult = await load.stop()
  const accepted = rows.filter((row) => isGood(row)).map((row) => row.startedAt - endsAt)
  const others = rows.filter((row) => row.status !== 200 && row.status !== 401)
  proof.check(
    'without an overlap the old key is refused in the end',
    others.length === 0 && (statuses[401] ?? 0) > 0,
    tally(statuses),
  )
  proof.checkTimed(
    `and none that began more than ${WITH_HINT_MS} ms behind the rotation is accepted`,
    accepted.every((ms) => ms <= WITH_HINT_MS),
    `the last one ${Math.max(0, ...accepted).toFixed(1)} ms behind it`,
  )
  const fresh = await fetch(`http://127.0.0.1:${stand.port}/api/v1/key`, {
    headers: { authorization: `Bearer ${keyOf(rotated).key}`, connection: 'close' },
  })
  proof.check('the new one works', fresh.status === 200, String(fresh.status))
}

/** A limit that is changed through either key of a rotation is that of both, on every front. */
async function limited(proof: Proof, stand: Stand): Promise<void> {
  const old = await made(stand, { name: 'limited', limit: 0 })
  const fresh = keyOf(await stand.cli('keys', 'rotate', old.hash))
  const steps: readonly (readonly [Key, number | null, number])[] = [
    [fresh, 1, 200],
    [old, 0, 403],
    [fresh, null, 200],
  ]
  for (const [through, limit, status] of steps) {
    await manage(stand, 'PATCH', `/keys/${through.hash}`, { limit })
    const found = await Promise.all([settled(stand, old, status), settled(stand, fresh, status)])
    proof.check(
      `a limit of ${String(limit)} that is set through one key is obeyed by both`,
      found.every((seen) => seen === status),
      found.join(' and '),
    )
  }
}

/**
 * The status that calls by a key have come to. Each call is a connection of its own: they reach both fronts.
 */
async function settled(stand: Stand, { key }: Key, wanted: number): Promise<number> {
  const { method, path, headers, body } = stand.embeddings(key)
  const giveUpAt = monotonicMs() + GIVE_UP_MS
  for (let inRow = 0; ;) {
    const answer = await fetch(`http://127.0.0.1:${stand.port}${path}`, {
      method,
      headers: { ...headers, connection: 'close' },
      body,
    })
    await answer.arrayBuffer()
    inRow = answer.status === wanted ? inRow + 1 : 0
    if (inRow === CALLS_IN_ROW || monotonicMs() > giveUpAt) return answer.status
  }
}

function loadOf(proof: Proof, stand: Stand, { key }: Key): ReturnType<typeof loadOnBoth> {
  return loadOnBoth(stand, {
    requests: [stand.embeddings(key)],
    connections: CONNECTIONS,
    ...(proof.isShort
      ? { ratePerSMax: RATE_PER_S.short }
      : { pace: { kind: 'open', ratePerS: RATE_PER_S.full } }),
  })
}

/** `monotonicMs()` at which the old key expires, as near as a clock of whole milliseconds shows it. */
function instantOf({ previous }: Record<string, unknown>): {
  readonly earliest: number
  readonly latest: number
} {
  const expiresAtMs = Date.parse((previous as { expires_at: string }).expires_at)
  const before = monotonicMs()
  const leftMs = expiresAtMs - Date.now()
  return { earliest: before + leftMs - 1, latest: monotonicMs() + leftMs }
}

function isGood(row: LoadRow): boolean {
  return row.status === 200
}

function reported(rows: readonly LoadRow[]): string {
  const statuses: Record<number, number> = {}
  for (const { status } of rows) statuses[status] = (statuses[status] ?? 0) + 1
  return tally(statuses)
}
