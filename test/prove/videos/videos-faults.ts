/** Whatever kills a process between two steps, its jobs end once, are charged once, and are reported. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openState } from '../../../src/server/redis/open.ts'
import { openVideoViews, type RunningVideoViews } from '../../../src/server/redis/video-views.ts'
import { openDiskStorage } from '../../../src/server/storage/disk.ts'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { connected } from '../../support/wire/connected.ts'
import { plainEnvironment } from '../../support/load/load.ts'
import { SILENT } from '../../support/log.ts'
import { makeOwners, setLimit, type Owners } from '../../support/money/money.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { openTestRedis, REDIS_KINDS } from '../../support/stores/redis.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhooks/webhook-receiver.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { countOf } from './judging.ts'
import { startKindsProvider } from './provider.ts'
import { catalogueOf } from './video-stand.ts'
import { judgeRun, remainsOf, type RunResult } from './videos-faults/judging.ts'
import type { Order, Answer } from './videos-faults/order.ts'
import type { Place } from './videos-faults/parts.ts'
import { planOf, type Plan } from './videos-faults/plans.ts'
import { NO_FAULT, POINTS, type Fault, type Point } from './videos-faults/points.ts'
import type { Program, Proof } from '../proof.ts'

const PROCESS = fileURLToPath(new URL('videos-faults/process.js', import.meta.url))
const RUNS_EACH = 20
/** Runs at the same time: most of each is waiting for leases to end. */
const LANES = 24
const SHORT_POINTS: readonly Point[] = [
  'accept.after_commit',
  'submit.after_write',
  'submit.after_answer',
  'store.after_publish',
  'end.in_commit',
]
/** Those first that take longest: what is sent, or has a turn, is left alone for a while. */
const LONG = /^(?:webhook|accept)/
/** Rounds for points that were not reached, as far as chance had it. */
const ROUNDS_MAX = 3
const TOLD_EVERYOnce = 50
/** Milliseconds until a process has reached its point, and until another one has done all that it left. */
const DEATH_MS_MAX = 90_000
const CALM_MS_MAX = 180_000
const LOOK_MS = 300
const LIMIT_NANO = 1_000_000_000_000
const VIDEO = {
  polls_per_second: 500,
  poll_first_ms: 200,
  poll_max_ms: 1_000,
  concurrency: 64,
  submit_timeout_ms: 2_000,
  lookup_quiet_ms: 2_000,
}

export const program: Program = {
  text: 'kill -9 at each of 25 points on the way of a video job: none lost, charged twice, stuck or untold',
  async run(proof) {
    const provider = await startKindsProvider(proof, { makeMs: 150 })
    const points = proof.isShort ? SHORT_POINTS : (Object.keys(POINTS) as Point[])
    const plans = points.flatMap((point) =>
      Array.from({ length: proof.isShort ? 1 : RUNS_EACH }, (_, nth) => planOf(proof, { point, nth })),
    )
    const lanes = await openLanes(proof, {
      count: Math.min(LANES, plans.length),
      catalogue: catalogueOf({ providers: provider.baseUrls, video: VIDEO }),
    })
    const results: RunResult[] = []
    let left: readonly Plan[] = plans
    for (let round = 0; round < ROUNDS_MAX && left.length > 0; round++) {
      const done = await runAll(proof, lanes, left)
      results.push(...done)
      left = done.flatMap(({ isHit, plan }, nth) =>
        isHit ? [] : [planOf(proof, { point: plan.point, nth: round * plans.length + nth, isSimple: true })],
      )
    }
    const submissions = await provider.submissions()
    judgeAll(proof, results, { points, submissions, received: lanes[0]?.receiver.received ?? [] })
  },
}

/** Where one run after the other happens. */
interface Lane {
  readonly place: Place
  readonly store: Store
  readonly views: RunningVideoViews
  readonly storage: Storage
  readonly receiver: WebhookReceiver
}

async function openLanes(
  proof: Proof,
  { count, catalogue }: { readonly count: number; readonly catalogue: object },
): Promise<readonly Lane[]> {
  const t = { teardown: (done: () => Promise<void> | void) => proof.after(async () => done()) }
  const folder = temporaryFolder(proof, 'faults')
  const catalogFile = join(folder, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify(catalogue))
  const receiver = await startWebhookReceiver()
  proof.after(() => receiver.close())
  const shared = {
    catalogFile,
    folder: join(folder, 'objects'),
    rootKey: randomBytes(32).toString('hex'),
    caFile: receiver.rootFile,
    allow: receiver.allow,
  }
  const storage = await openDiskStorage({ folder: shared.folder })
  return Promise.all(
    Array.from({ length: count }, async (): Promise<Lane> => {
      const { url: databaseUrl } = await openTestDatabase(t)
      const redis = await openTestRedis(t, REDIS_KINDS.at(-1))
      const store = openStore({ url: databaseUrl, poolMax: 1, applicationName: 'faults-proof' })
      // While processes start by the dozen, connecting takes too long.
      await connected(store)
      const state = openState({ url: null, socketPath: redis.socketPath, log: SILENT })
      const views = openVideoViews(state)
      proof.after(() => Promise.all([store.close(), views.close().then(() => state.close())]))
      return {
        place: { ...shared, databaseUrl, redisSocket: redis.socketPath },
        store,
        views,
        storage,
        receiver,
      }
    }),
  )
}

async function runAll(
  proof: Proof,
  lanes: readonly Lane[],
  plans: readonly Plan[],
): Promise<readonly RunResult[]> {
  const results: RunResult[] = []
  const inTurn = [
    ...plans.filter(({ point }) => LONG.test(point)),
    ...plans.filter(({ point }) => !LONG.test(point)),
  ].values()
  await Promise.all(
    lanes.map(async (lane) => {
      let running = startProcess(lane.place)
      for (const plan of inTurn) {
        const ran = await run(lane, plan, running)
        running = ran.running
        results.push(ran.result)
        if (results.length % TOLD_EVERYOnce === 0)
          proof.say(
            `${results.length} of ${plans.length}, ${countOf(results.map(({ firstEnd }) => firstEnd))}`,
          )
      }
      await running.kill()
    }),
  )
  return results
}

/**
 * A process that dies at its point, and another one that goes on with what it left.
 * @param first one that has gone on with what another left: starting one takes longer than all that it does
 */
async function run(
  { place, store, views, storage, receiver }: Lane,
  { wanted: all, ...more }: Plan,
  first: Running,
): Promise<{ readonly result: RunResult; readonly running: Running }> {
  const owners = await makeOwners(store, newId())
  for (const account of Object.values(owners.accounts))
    await setLimit(store.sql, account, 'lifetime', LIMIT_NANO)
  const wanted = all.map((one) => ({
    ...one,
    callbackUrl: `${receiver.origin}/${encodeURIComponent(`${more.name}-${one.nth}`)}`,
  }))
  const order = (fault: Fault): Order => ({ run: more.name, owners, fault, wanted })
  const reportedBy = ({ reported }: Running): readonly Answer[] =>
    reported.filter(({ run: of }) => of === more.name)
  const isDone = async (one: Running): Promise<boolean> =>
    reportedBy(one).filter(({ what }) => what === 'accepted').length === wanted.length &&
    (await openRows(store, owners)) === 0
  first.give(order(more.fault))
  // One whose point does not come ends all its jobs.
  await until(DEATH_MS_MAX, async () => first.hasEnded() || (await isDone(first)))
  // Its point may come after the last step that it does.
  await pause(LOOK_MS)
  let isCalm = !first.hasEnded() && (await isDone(first))
  const isHit = reportedBy(first).some(({ what }) => what === 'died')
  let running = first
  const firstEnd = isHit ? 'at its point' : `elsewhere: ${first.end()}`
  if (!isCalm) {
    await first.kill()
    running = startProcess(place)
    running.give(order(NO_FAULT))
    isCalm =
      (await until(CALM_MS_MAX, async () => running.hasEnded() || (await isDone(running)))) &&
      !running.hasEnded()
  }
  const remains = await remainsOf(store, { owners, views, storage })
  const reported = running === first ? [reportedBy(first)] : [reportedBy(first), reportedBy(running)]
  return {
    running,
    result: {
      plan: { ...more, wanted },
      isHit,
      firstEnd,
      isCalm,
      shown: reported,
      errors: first.errors() + running.errors(),
      remains,
    },
  }
}

interface Running {
  readonly reported: readonly Answer[]
  give(order: Order): void
  errors(): string
  /** How it has ended, if so. */
  end(): string
  hasEnded(): boolean
  kill(): Promise<void>
}

function startProcess(place: Place): Running {
  const child = spawn(process.execPath, [PROCESS, JSON.stringify(place)], {
    env: plainEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const reported: Answer[] = []
  let [line, errors, hasEnded] = ['', '', false]
  // It may die before it has read all.
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (line + text).split('\n')
    line = lines.pop() ?? ''
    reported.push(...lines.map((one) => JSON.parse(one) as Answer))
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = once(child, 'close').then(() => (hasEnded = true))
  return {
    reported,
    errors: () => errors,
    end: () => String(child.exitCode ?? child.signalCode ?? 'goes on'),
    hasEnded: () => hasEnded,
    give: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Jobs that have not ended, and webhooks that wait. */
async function openRows({ sql }: Store, { workspaceId }: Owners): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT (SELECT count(*) FROM video_jobs WHERE workspace_id = ${workspaceId} AND ended_at IS NULL)::int
      + (SELECT count(*) FROM webhook_deliveries WHERE workspace_id = ${workspaceId} AND state = 'waiting')::int AS count`
  return row?.count ?? Infinity
}

/** @returns false when it was not in time */
async function until(msMax: number, isSo: () => Promise<boolean>): Promise<boolean> {
  for (const endsAt = performance.now() + msMax; performance.now() < endsAt; await pause(LOOK_MS))
    if (await isSo()) return true
  return false
}

function judgeAll(
  proof: Proof,
  results: readonly RunResult[],
  {
    points,
    submissions,
    received,
  }: {
    readonly points: readonly Point[]
    readonly submissions: Parameters<typeof judgeRun>[1]['submissions']
    readonly received: WebhookReceiver['received']
  },
): void {
  const wrong = new Map<string, string[]>()
  for (const result of results) {
    const { plan } = result
    const tags = new Set(plan.wanted.map(({ tag }) => tag))
    const paths = new Set(plan.wanted.map(({ callbackUrl }) => new URL(callbackUrl).pathname))
    const found = judgeRun(result, {
      submissions: submissions.filter(({ tag }) => tags.has(tag)),
      webhooks: received.filter(({ path }) => paths.has(path)),
    })
    for (const [text, problem] of found) {
      const all = wrong.get(text) ?? []
      wrong.set(text, problem === null ? all : [...all, `${plan.name} (time ${plan.fault.nth}): ${problem}`])
    }
  }
  const hits = points.map((point) => ({
    point,
    count: results.filter(({ plan, isHit }) => isHit && plan.point === point).length,
  }))
  const least = results.length === 0 ? 1 : Math.min(...hits.map(({ count }) => count))
  proof.check(
    'every point was reached as often as it should',
    least >= (proof.isShort ? 1 : RUNS_EACH),
    hits.map(({ point, count }) => `${point} × ${count}`).join(', '),
  )
  const missed = results.filter(({ isHit }) => !isHit).length
  const ends = countOf(results.map(({ firstEnd }) => firstEnd))
  proof.say(
    `${results.length} runs, of which ${missed} did not reach their point and count for none; they ended ${ends}`,
  )
  proof.say(
    `jobs: ${countOf(results.flatMap(({ remains }) => remains.rows.map(({ state, error }) => `${state} ${(error ?? '').split(':')[0]}`)))}`,
  )
  for (const [text, problems] of wrong) {
    proof.check(text, problems.length === 0, `wrong in ${problems.length} of ${results.length} runs`)
    for (const problem of problems.slice(0, 5)) proof.say(`  ${problem}`)
  }
}
