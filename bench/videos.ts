/** `npm run bench -- videos`: the cost of accepting a video job, against an insert and a job queue alone. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../src/server/store/base/open.ts'
import { plainEnvironment } from '../test/support/load/load.ts'
import { outsidePostgres, outsideRedis } from '../test/support/nodes/outside-stores.ts'
import { freePort, stopServer } from '../test/support/nodes/spawned.ts'
import { PROVIDER_KEY, startStand, type Stand } from '../test/support/nodes/stand.ts'
import { keepRecord, progress } from './keep-record.ts'
import { interleave, rowsOf } from './measure.ts'
import { optionsOrExit } from './options.ts'
import { NO_PEERS } from './peers.ts'
import { ratiosOver } from './ratios.ts'
import type { Absent, Target } from './target.ts'
import { ROOT } from './text.ts'
import { readVideosOptions, VIDEOS_OPTIONS_TEXT, VIDEOS_TARGETS } from './videos/options.ts'
import type { PeerSettings } from './videos/peer-process.ts'

const options = optionsOrExit(process.argv.slice(2), readVideosOptions, VIDEOS_OPTIONS_TEXT)
const settings = {
  connections: options.connections,
  durationMs: options.seconds * 1_000,
  warmUpMs: 3_000,
  repeats: options.repeats,
}
const MODEL = 'bench/clip'
const BODY = JSON.stringify({
  model: MODEL,
  prompt: 'A red ball rolls down a green hill.',
  duration: 4,
  resolution: '720p',
})
const HEADERS = { 'content-type': 'application/json' }
const closers: (() => Promise<unknown>)[] = []
try {
  await run()
} finally {
  for (const close of closers.reverse()) await close()
}

async function run(): Promise<void> {
  // Durable: a job answered with 202 must survive a power failure.
  const postgres = await outsidePostgres({ isSynced: true })
  closers.push(() => postgres.close())
  const redis = await outsideRedis()
  if (redis === null) throw new Error('redis-server is not on the PATH, and BullMQ needs one')
  closers.push(() => redis.close())
  const stores = { databaseUrl: postgres.url, redisUrl: redis.url }
  const targets: Target[] = []
  const absent: Absent[] = []
  for (const name of VIDEOS_TARGETS.filter((one) => options.only.includes(one))) {
    const one = name === 'sluice' ? await startSluice(stores) : await startPeer(name, stores)
    if ('absent' in one) absent.push(one)
    else targets.push(one)
  }
  const rows = rowsOf('videos', await interleave(targets, settings, progress), settings)
  await keepRecord(
    {
      scenario: 'videos',
      question: 'what accepting a video job costs, against an insert and a job queue alone',
      settings,
      subjects: targets.map(({ name, note }) => ({ name, note })),
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: ratiosOver(rows, 'sluice', ['requests_per_second', 'cpu_us_per_request']),
      curves: [],
      checks: [],
      notes: [
        'one Postgres that syncs each commit and one Redis for all; CPU and RSS leave those two out, in which all of them work',
      ],
    },
    options.json,
  )
}

interface Stores {
  readonly databaseUrl: string
  readonly redisUrl: string
}

/**
 * One front and one runner; the provider never answers, so that the jobs stay open and the runner has little
 * to do.
 */
async function startSluice({ databaseUrl, redisUrl }: Stores): Promise<Target> {
  const stand = await startStand({
    catalogue: catalogue(await freePort()),
    settings: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  })
  closers.push(() => stand.stop())
  const store = openStore({ url: databaseUrl, poolMax: 1, applicationName: 'sluice-bench' })
  closers.push(() => store.close())
  return {
    name: 'sluice',
    pid: stand.pid,
    port: stand.port,
    request: requestOf(stand),
    successStatus: 202,
    note: 'the whole node: key check, validation, price, hold, row and live view; group commit; its runner claims what was accepted',
    // The number of open jobs of a workspace is limited.
    before: async () =>
      void (await store.sql`UPDATE video_jobs SET state = 'cancelled' WHERE state IN ('accepted', 'submitting', 'running', 'storing')`),
    stop: () => Promise.resolve(),
  }
}

function requestOf({ keys }: Stand): Target['request'] {
  return {
    method: 'POST',
    path: '/api/v1/videos',
    headers: { ...HEADERS, authorization: `Bearer ${keys.inference_key}` },
    body: BODY,
  }
}

/** @param port a port without a listener */
function catalogue(port: number): object {
  const video = { submit: 'blind', concurrency: 1, polls_per_second: 1 }
  return {
    providers: [
      {
        slug: 'bench',
        protocol: 'openai',
        base_url: `http://127.0.0.1:${port}/v1`,
        api_key_env: PROVIDER_KEY,
        video,
      },
    ],
    models: [
      {
        id: MODEL,
        name: 'Bench',
        architecture: { input_modalities: ['text'], output_modalities: ['video'] },
        video: {
          durations: [4],
          resolutions: ['720p'],
          aspect_ratios: ['16:9'],
          pricing_skus: { duration_seconds: '0.01' },
        },
        endpoints: [{ provider: 'bench', upstream_model: 'clip' }],
      },
    ],
  }
}

async function startPeer(
  kind: PeerSettings['kind'],
  { databaseUrl, redisUrl }: Stores,
): Promise<Target | Absent> {
  if (!existsSync(join(ROOT, 'tools/peers/node_modules', kind))) return { name: kind, absent: NO_PEERS }
  const port = await freePort()
  // The process has a session of its own, as the product's fronts have: the kernel distributes cores by
  // session (autogroup).
  const child = fork(fileURLToPath(new URL('./videos/peer-process.js', import.meta.url)), {
    env: plainEnvironment(),
    execArgv: [],
    detached: true,
  })
  closers.push(() => stopServer(child))
  const peer: PeerSettings = { kind, port, databaseUrl, redisUrl, packages: join(ROOT, 'tools/peers') }
  child.send(peer)
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${kind} did not start`))),
  ])
  return {
    name: kind,
    pid: child.pid ?? 0,
    port,
    successStatus: 202,
    request: { method: 'POST', path: '/videos', headers: HEADERS, body: BODY },
    note: 'node:http, one INSERT, one job enqueued; no key, no validation, no money, no worker',
    stop: () => Promise.resolve(),
  }
}
