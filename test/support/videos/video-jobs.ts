/** Video jobs on a real Postgres: owners, wishes, and views in memory. */
import { createHash } from 'node:crypto'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { videoRankOf } from '../../../src/schemas/videos/video-jobs.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type {
  VideoJobs,
  VideoRequest,
  VideoView,
  VideoViews,
  VideoWake,
  VideoInput,
} from '../../../src/server/ports/videos/videos.ts'
import {
  openIdempotency,
  type IdempotencyOptions,
  type IdempotencyStore,
} from '../../../src/server/store/base/idempotency.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { openVideoJobs, type VideoJobsOptions } from '../../../src/server/store/videos/open-videos.ts'
import { NO_LIMITS } from '../money/key-money.ts'
import { makeOwners, type Owners } from '../money/money.ts'
import { must } from '../must.ts'
import { openTestDatabase } from '../stores/postgres.ts'
import type { Teardown } from '../teardown.ts'

/** The live view in memory, for any number of fronts; `isAway` = Redis cannot be reached. */
export class MemoryViews implements VideoViews {
  readonly kept = new Map<string, VideoView>()
  readonly woken: VideoWake[] = []
  isAway = false
  reads = 0

  put(view: VideoView): Promise<boolean> {
    return this.putAll([view])
  }

  putAll(views: readonly VideoView[]): Promise<boolean> {
    if (this.isAway) return Promise.resolve(false)
    for (const view of views) {
      const before = this.kept.get(view.id)
      if (before === undefined || videoRankOf(before.status) <= videoRankOf(view.status))
        this.kept.set(view.id, view)
    }
    return Promise.resolve(true)
  }

  get(id: string): Promise<VideoView | null> {
    this.reads += 1
    return Promise.resolve(this.isAway ? null : (this.kept.get(id) ?? null))
  }

  wake(what: VideoWake): void {
    this.woken.push(what)
  }

  onWake(): () => void {
    return () => undefined
  }
}

export const VIDEO_REQUEST: VideoRequest = {
  prompt: 'a kite',
  seconds: 5,
  resolution: '480p',
  aspectRatio: '16:9',
  size: null,
  seed: 7,
  hasAudio: false,
  frames: [],
  references: [],
  creativity: null,
  upscaleFactor: null,
  passthrough: {},
  previousUpstreamId: null,
  user: null,
}

export function videoKey(owners: Owners, limits: Partial<KeyRecord['money']> = {}): KeyRecord {
  return {
    hash: owners.keyHash,
    kind: 'inference',
    name: 'k',
    organizationId: owners.organizationId,
    workspaceId: owners.workspaceId,
    defaultWorkspaceId: owners.workspaceId,
    internId: null,
    rateLimitRpm: null,
    rateLimitBurst: null,
    isDisabled: false,
    isInProgramme: true,
    mayWriteVault: true,
    expiresAtMs: null,
    allowedModels: null,
    scopes: null,
    money: { ...NO_LIMITS, accountId: owners.keyAccountId, ...limits },
  }
}

export function videoInput(
  owners: Owners,
  more: Partial<VideoInput> & { readonly limits?: Partial<KeyRecord['money']> } = {},
): VideoInput {
  const { limits, ...rest } = more
  return {
    key: videoKey(owners, limits),
    workspaceId: owners.workspaceId,
    requestId: newId(),
    target: {
      model: 'acme/v',
      provider: 'acme',
      endpoint: 'acme/v-1',
      upstreamModel: 'v-1',
      ownSecret: null,
    },
    request: VIDEO_REQUEST,
    costNano: 100,
    isUnpriced: false,
    callbackUrl: null,
    sessionId: null,
    once: null,
    ...rest,
  }
}

export const OWN = {
  model: 'acme/v',
  provider: 'acme',
  endpoint: 'acme/v-1',
  upstreamModel: 'v-1',
  ownSecret: 'mine',
}

export function bodyOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export const answerOf = (view: VideoView): string => JSON.stringify({ id: view.id, status: view.status })

const HOUR_MS = 3_600_000

export interface VideoStand {
  readonly store: Store
  readonly owners: Owners
  readonly views: MemoryViews
  readonly jobs: VideoJobs
  /** Another front on the same database, with connections of its own. */
  open(more?: Partial<VideoJobsOptions>): VideoJobs
  openAnswers(more?: Partial<IdempotencyOptions>): IdempotencyStore
  count(): Promise<number>
}

export async function openVideoStand(t: Teardown): Promise<VideoStand> {
  const { url } = await openTestDatabase(t)
  const connect = (): Store => {
    const store = openStore({ url, poolMax: 6, applicationName: 'sluice-test' })
    t.teardown(() => store.close())
    return store
  }
  const store = connect()
  const views = new MemoryViews()
  const open: VideoStand['open'] = (more = {}) =>
    openVideoJobs({
      store: connect(),
      views,
      jobMs: 24 * HOUR_MS,
      now: () => performance.now(),
      cancel: () => Promise.reject(new Error('nobody cancels')),
      ...more,
    })
  return {
    store,
    views,
    open,
    owners: await makeOwners(store),
    jobs: open({ store }),
    openAnswers(more = {}) {
      const answers = openIdempotency({
        store: connect(),
        now: () => performance.now(),
        random: Math.random,
        ...more,
      })
      t.teardown(() => answers.close())
      return answers
    },
    async count() {
      const [row] = await store.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM video_jobs`
      return row?.count ?? 0
    },
  }
}

/** The failure's name, or `ok`. */
export function nameOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : outcome.failure.name
}

export async function accepted(jobs: VideoJobs, input: VideoInput): Promise<string> {
  return must(await jobs.accept(input)).id
}
