/**
 * A front's and a runner's parts for video jobs, as `src/server/main` wires them, with points at which they
 * die.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fail } from '../../../../src/schemas/failures.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { loadCatalogue } from '../../../../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../../src/server/catalogue/shipped.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import type { Idempotency } from '../../../../src/server/ports/idempotency.ts'
import type { VideoJobs } from '../../../../src/server/ports/videos/videos.ts'
import { openVideoEngine } from '../../../../src/server/runner/videos/engine.ts'
import { openWebhookSender } from '../../../../src/server/runner/webhooks/sender.ts'
import { openState, type State } from '../../../../src/server/redis/open.ts'
import { openPollBudget } from '../../../../src/server/redis/poll-budget.ts'
import { atNext } from '../../../../src/server/structures/ticks.ts'
import { openRateAuthority } from '../../../../src/server/redis/rates.ts'
import { openVideoViews } from '../../../../src/server/redis/video-views.ts'
import { openDiskStorage } from '../../../../src/server/storage/disk.ts'
import { openDataKeys } from '../../../../src/server/store/vault/data-keys.ts'
import { openIdempotency } from '../../../../src/server/store/base/idempotency.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { startRunnerHeartbeat } from '../../../../src/server/store/nodes/runners.ts'
import { openVideoCancel } from '../../../../src/server/store/videos/cancel.ts'
import type { EndContext } from '../../../../src/server/store/videos/ends.ts'
import { openVideoJobs } from '../../../../src/server/store/videos/open-videos.ts'
import { openVideoWork } from '../../../../src/server/store/videos/work.ts'
import { openDeliveries } from '../../../../src/server/store/webhooks/deliveries.ts'
import { openWebhookSecretRows } from '../../../../src/server/store/webhooks/secrets.ts'
import { createVideoClips } from '../../../../src/server/files/clips.ts'
import { createVideoProviders } from '../../../../src/server/upstream/videos/video-providers.ts'
import { openKeyRing } from '../../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { openWebhookSecrets } from '../../../../src/server/vault/webhook-secrets.ts'
import { createIntake } from '../../../../src/workers/sessions/intake.ts'
import { SessionPool } from '../../../../src/workers/sessions/session-pool.ts'
import { SILENT } from '../../../support/log.ts'
import { PROVIDER_KEY } from '../../../support/nodes/stand.ts'
import type { FaultPoints } from './points.ts'
import type { VideoMeters } from '../../../../src/server/ports/videos/video-work.ts'

/** Where everything is. */
export interface Place {
  readonly databaseUrl: string
  readonly redisSocket: string
  /** Of objects. */
  readonly folder: string
  /** Hex. */
  readonly rootKey: string
  readonly catalogFile: string
  /** Of the receiver's certificate, and where it may be called. */
  readonly caFile: string
  readonly allow: string
}

export interface FrontDeps {
  readonly jobs: VideoJobs
  readonly answers: Idempotency
}

/** Of one process; many of them share a cluster. */
const POOL_MAX = 3
const JOB_MS = 3_600_000
const STATE_WAIT_MS = 2_000
const ENDS: EndContext = { log: SILENT, origin: 'https://sluice.test', clipsKeptMs: 86_400_000 }

/** Opens all, and begins to work on what is due. It ends with its process. */
export async function openParts(place: Place, points: FaultPoints): Promise<FrontDeps> {
  const store = openStore({ url: place.databaseUrl, poolMax: POOL_MAX, applicationName: 'faults-proof' })
  const state = openState({ url: null, socketPath: place.redisSocket, log: SILENT })
  const views = openVideoViews(state)
  await state.whenReachable(STATE_WAIT_MS)
  const now = (): number => performance.now()
  const shown = points.frontViews(views)
  const jobs = points.jobs(
    openVideoJobs({
      store,
      views: shown,
      jobMs: JOB_MS,
      now,
      cancel: openVideoCancel({ store, views: shown, context: ENDS }),
    }),
  )
  await openRunner(place, points, { store, state, views })
  return { jobs, answers: openIdempotency({ store, now, random: Math.random }) }
}

interface Deps {
  readonly store: Store
  readonly state: State
  readonly views: ReturnType<typeof openVideoViews>
}

async function openRunner(place: Place, points: FaultPoints, { store, state, views }: Deps): Promise<void> {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: place.catalogFile })
  if (!loaded.ok) throw new Error(`the catalogue: ${JSON.stringify(loaded.problems)}`)
  const now = (): number => performance.now()
  const egress = openEgress({ extraCa: [readFileSync(place.caFile, 'utf8')], allow: [place.allow] })
  const rootKeys = openRootKeys({ setting: new Secret(place.rootKey), file: null, dataDir: '/nowhere' })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  const storage = points.storage(await openDiskStorage({ folder: place.folder }))
  const sessions = new SessionPool({ threadCount: 1, log: SILENT })
  const providers = createVideoProviders({
    catalogue: loaded.catalogue,
    egress,
    now,
    credentials: new Map([[PROVIDER_KEY, new Secret('stand')]]),
    // No job here has a key of its workspace, and none is rendered by ourselves.
    releases: { release: () => Promise.resolve(fail('secret_not_released')) },
    jobs: { run: () => Promise.resolve(fail('busy')) },
  })
  openVideoEngine({
    work: points.work(openVideoWork(store, ENDS)),
    views: points.runnerViews(views),
    log: SILENT,
    providers: points.providers(providers),
    clips: createVideoClips({
      storage,
      keyRing,
      intake: createIntake({ sessions, failureOf: storage.failureOf }),
    }),
    polls: openPollBudget({
      authority: openRateAuthority(state),
      runners: startRunnerHeartbeat({ runnerId: newId(), store, log: SILENT }),
      now,
    }),
    meters: UNCOUNTED,
    clock: { now, after, atNext },
    random: Math.random,
  })
  openWebhookSender({
    deliveries: points.deliveries(openDeliveries({ store })),
    egress: points.egress(egress),
    views,
    log: SILENT,
    secrets: openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes }),
    meters: { attempt: () => undefined },
    now: Date.now,
    random: Math.random,
  })
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

const UNCOUNTED: VideoMeters = {
  claimed() {},
  submitted() {},
  looked() {},
  polled() {},
  stored() {},
  ended() {},
  lost() {},
}
