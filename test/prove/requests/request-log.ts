/** Every paid call is in the request log, whatever happens to fronts and to the disk; nothing secret is. */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RequestShape } from '../../../src/schemas/requests/requests.ts'
import { REQUESTS_SPILL_FILES_MAX, spillFolder } from '../../../src/server/observe/requests/spill-folder.ts'
import { PackedCalls } from '../../../src/server/store/requests/packed-calls.ts'
import { recoverRequests } from '../../../src/server/store/requests/request-rows.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { makeOrganization } from '../keys/isolation/owners.ts'
import { Spenders } from '../money/spend/spenders.ts'
import { STAND_MODEL, startSpendStand, type SpendStand } from '../money/spend/spend-stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const FULL = {
  fronts: 4,
  rounds: 6,
  callers: 60,
  keys: 50,
  roundMs: 8_000,
  restMs: 0,
  calls: 0,
  refusals: 5_000,
}
/** Each step takes so many answered calls at least: a slow machine answers few in the time alone. */
const SHORT = {
  ...{ fronts: 2, rounds: 1, callers: 12, keys: 4, refusals: 600 },
  ...{ roundMs: 1_500, restMs: 60, calls: 60 },
}
/** Share of the calls by which weights may miss the number of refusals, in hundredths. */
const WEIGHT_PERCENT_MAX = 20

const TEXT_CANARY = 'canary-text-6f02d1'
const KEY_CANARY = 'sk-sluice-v1-canary-key-40b7'

export const program: Program = {
  text: 'Every paid call is in the request log or told as recovered, under kills, reloads and a full disk; no canary, no foreign row',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const bench = await startSpendStand(proof, { fronts: size.fronts })
    const keys: string[] = []
    for (let n = 0; n < size.keys; n++) keys.push((await bench.makeKey(bench.stand.keys.workspace_id)).key)
    const spenders = new Spenders({
      port: bench.stand.port,
      keys,
      model: STAND_MODEL,
      callers: size.callers,
      goesOn: true,
      restMs: size.restMs,
      random: (below) => proof.random(below),
    })
    const running = spenders.run()
    const going = async (): Promise<void> => {
      const answered = (): number => spenders.statuses[200] ?? 0
      const before = answered()
      await pause(size.roundMs)
      await until('calls are answered', () => answered() >= before + size.calls)
    }
    for (let round = 0; round < size.rounds; round++) await disturb(bench, proof, going)
    spenders.end()
    await running
    spenders.close()
    await refuse(bench, size.refusals)
    await settled(bench)
    await judge(proof, bench, tally(spenders.statuses))
    await judgeRefusals(proof, bench, size.refusals)
    await judgeForeign(proof, bench)
  },
}

/** A front killed, a reload, a disk that refuses, and a spill without room, each while calls come. */
async function disturb({ stand }: SpendStand, proof: Proof, going: () => Promise<void>): Promise<void> {
  const folder = spillFolder(stand.dataDir)
  await going()
  const fronts = stand.fronts()
  const victim = fronts[proof.random(fronts.length)]
  if (victim !== undefined) process.kill(victim, 'SIGKILL')
  await going()
  await refusing(folder, going)
  await crowded(folder, going)
  await stand.cli('reload')
  await going()
}

/** A file in the folder's place: every write fails, as on a full disk. What was there stays. */
async function refusing(folder: string, during: () => Promise<void>): Promise<void> {
  await mkdir(folder, { recursive: true })
  const aside = `${folder}.aside`
  await rename(folder, aside)
  await writeFile(folder, '')
  await during()
  await rm(folder)
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(aside)) await rename(join(aside, name), join(folder, name))
  await rm(aside, { recursive: true })
}

/** As many files as the spill may have, so that there is no room for another. */
async function crowded(folder: string, during: () => Promise<void>): Promise<void> {
  const names = Array.from({ length: REQUESTS_SPILL_FILES_MAX }, (_, n) => join(folder, `crowd-${n}`))
  await Promise.all(names.map((name) => writeFile(name, '')))
  await during()
  await Promise.all(names.map((name) => rm(name, { force: true })))
}

/** Calls that are refused, with canaries in every place that a caller has. */
async function refuse({ stand }: SpendStand, calls: number): Promise<void> {
  const ask = (key: string, model: string): Promise<unknown> =>
    fetch(`http://127.0.0.1:${stand.port}/api/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: TEXT_CANARY }),
    }).then((answer) => answer.text())
  for (let at = 0; at < calls; at += 50)
    await Promise.all(
      Array.from({ length: 50 }, () => ask(stand.keys.inference_key, `nobody/${TEXT_CANARY}`)),
    )
  await ask(KEY_CANARY, STAND_MODEL)
  await ask(stand.keys.inference_key, STAND_MODEL)
}

/** Nothing is lent or waits to be written any more, and the log was compared with all of the ledger. */
async function settled({ stand, store, untilReturned }: SpendStand): Promise<void> {
  await untilReturned()
  const folder = spillFolder(stand.dataDir)
  await until('the spill is empty', async () => (await readdir(folder)).length === 0)
  await pause(1_000)
  await until('the spill stays empty', async () => (await readdir(folder)).length === 0)
  await compared(store)
}

/** The runner compares too, and only one process does at a time. */
async function compared(store: SpendStand['store']): Promise<void> {
  const [now] = await store.sql<{ at: string }[]>`SELECT clock_timestamp()::text AS at`
  await until('the log is compared with all of the ledger', async () => {
    await recoverRequests(store, 0)
    const [mark] = await store.sql<{ isThrough: boolean }[]>`
      SELECT through >= ${now?.at ?? ''}::text::timestamptz AS "isThrough" FROM request_marks WHERE id = 'ledger'`
    return mark?.isThrough === true
  })
}

async function judge(proof: Proof, { store, stand }: SpendStand, calls: string): Promise<void> {
  const logged = new Map<string, { rows: number; isRecovered: boolean }>()
  for await (const call of loggedCalls(store)) {
    const name = `${call.organizationId} ${call.requestId}`
    const { rows, isRecovered } = logged.get(name) ?? { rows: 0, isRecovered: false }
    logged.set(name, { rows: rows + 1, isRecovered: isRecovered || call.isRecovered })
  }
  let [paid, missing, recovered, own, twice] = [0, 0, 0, 0, 0]
  const ledger = store.sql<{ organization_id: string; request_id: string }[]>`
    SELECT DISTINCT organization_id, request_id FROM ledger
    WHERE kind <> 'overrun' AND operation IS NOT NULL AND cost_nano > 0`
  for await (const rows of ledger.cursor(READ))
    for (const { organization_id: organizationId, request_id: requestId } of rows) {
      const found = logged.get(`${organizationId} ${requestId}`)
      paid++
      if (found === undefined) missing++
      else if (found.isRecovered) recovered++
      else own++
      if (found !== undefined && found.rows > 1) twice++
    }
  proof.check(
    'every paid call of the ledger is in the log',
    paid > 0 && missing === 0,
    `${missing} of ${paid} missing; ${own} by their fronts, ${recovered} recovered from the ledger; ${calls}`,
  )
  proof.check('no paid call is there twice', twice === 0, `${twice} twice`)
  proof.check(
    'what fronts lost is told as recovered, and most is not',
    recovered > 0 && own > recovered / 2,
    `${recovered}`,
  )
  const [seen] = await store.sql<{ rows: number; segments: number; packed: number }[]>`
    SELECT (SELECT count(*)::int FROM requests r WHERE r::text LIKE ${`%${TEXT_CANARY}%`} OR r::text LIKE ${`%${KEY_CANARY}%`}) AS rows,
      (SELECT count(*)::int FROM request_segments WHERE position(${Buffer.from(TEXT_CANARY)}::bytea IN packed) > 0
        OR position(${Buffer.from(KEY_CANARY)}::bytea IN packed) > 0) AS segments,
      (SELECT coalesce(sum(calls), 0)::int FROM request_segments) AS packed`
  const { rows = -1, segments = -1, packed = -1 } = seen ?? {}
  const lines = stand.output().includes(TEXT_CANARY) || stand.output().includes(KEY_CANARY)
  const found = `${rows} rows, ${segments} segments`
  proof.check('no row of the log has a canary', rows === 0 && segments === 0 && !lines, found)
  proof.say(`${packed} calls in segments`)
}

/** Rows and segments that one read fetches. */
const READ = 1_000

interface LoggedCall {
  readonly organizationId: string
  readonly requestId: string
  readonly error: string | null
  readonly weight: number
  readonly isRecovered: boolean
}

/** All calls of the log, of every organization. */
async function* loggedCalls({ sql }: SpendStand['store']): AsyncGenerator<LoggedCall> {
  const rows = sql<LoggedCall[]>`
    SELECT organization_id AS "organizationId", request_id AS "requestId", error, weight, is_recovered AS "isRecovered" FROM requests`
  for await (const some of rows.cursor(READ)) yield* some
  const segments = sql<{ organizationId: string; packed: Uint8Array }[]>`
    SELECT organization_id AS "organizationId", packed FROM request_segments`
  for await (const [segment] of segments.cursor(1)) {
    if (segment === undefined) continue
    const calls = new PackedCalls(segment.packed)
    for (let nth = 0; nth < calls.calls; nth++)
      yield {
        organizationId: segment.organizationId,
        requestId: calls.requestIdAt(nth),
        error: calls.textAt(nth, 'error'),
        weight: calls.figureAt(nth, 'weight') ?? 0,
        isRecovered: false,
      }
  }
}

async function judgeRefusals(proof: Proof, { store }: SpendStand, calls: number): Promise<void> {
  let [rows, weight] = [0, 0]
  for await (const call of loggedCalls(store)) {
    if (call.error !== 'model_unknown') continue
    rows++
    weight += call.weight
  }
  proof.check(
    `weights of refusals come to their number, to ${WEIGHT_PERCENT_MAX} %`,
    rows > 0 && Math.abs(weight - calls) * 100 <= calls * WEIGHT_PERCENT_MAX,
    `${rows} rows stand for ${weight} of ${calls}`,
  )
}

async function judgeForeign(proof: Proof, { stand, store }: SpendStand): Promise<void> {
  const { key } = await makeOrganization(store, 'foreign')
  const { request_id: known = '' } =
    (await rowsFor(stand.port, stand.keys.management_key, 'limit=1'))[0] ?? {}
  const queries = [
    'limit=500',
    `request_id=${known}`,
    'failed=true',
    `workspace_id=${stand.keys.workspace_id}`,
  ]
  const own = ['requests.list', 'unrouted']
  const seen = (await Promise.all(queries.map((query) => rowsFor(stand.port, key, query))))
    .flat()
    .filter(({ operation }) => !own.includes(operation))
  proof.check('a foreign organization sees no row', known !== '' && seen.length === 0, `${seen.length} rows`)
}

async function rowsFor(port: number, key: string, query: string): Promise<readonly RequestShape[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/admin/requests?${query}`, {
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
  })
  // A workspace of another organization does not exist for the key.
  if (answer.status === 404) return []
  if (answer.status !== 200) throw new Error(`the log answers ${answer.status} to ${query}`)
  return ((await answer.json()) as { readonly data: readonly RequestShape[] }).data
}
