import { organizationAccount } from '../../../src/schemas/money/accounts.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { connected } from '../../support/wire/connected.ts'
import {
  lentPostgres,
  outsidePostgres,
  outsideRedis,
  type OutsideRedis,
  type OutsideStore,
} from '../../support/nodes/outside-stores.ts'
import { manage } from '../../support/nodes/manage.ts'
import { PROVIDER_KEY, startStand, type Stand } from '../../support/nodes/stand.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhooks/webhook-receiver.ts'
import type { Proof } from '../proof.ts'
import type { SubmitKind } from './judging.ts'
import { VideoClient } from './offers.ts'

/** A node whose three providers differ in the handling of a submission with an unknown outcome. */
export interface VideoStand {
  readonly stand: Stand
  readonly store: Store
  readonly postgres: OutsideStore
  readonly redis: OutsideRedis | null
  readonly receiver: WebhookReceiver
  readonly client: VideoClient
  /** Milliseconds until all jobs have ended and all webhooks are delivered or dead; null after `msMax`. */
  untilCalm(msMax: number): Promise<number | null>
  /** The same, until all jobs of some providers have ended. */
  untilEnded(kinds: readonly SubmitKind[], msMax: number): Promise<number | null>
}

export interface VideoStandInput {
  /** Base URL of each kind's provider. */
  readonly providers: Readonly<Record<SubmitKind, string>>
  /** Members of the providers' `video` in the catalogue. */
  readonly video?: Readonly<Record<string, unknown>>
  readonly fronts: number
  readonly runners: number
  readonly settings?: Readonly<Record<string, string>>
  readonly statusOf?: (path: string, nth: number) => number | null
  /** The proof ends Postgres: also in the short form it is one of its own. */
  readonly isPostgresEnded?: boolean
}

export const SUBMIT_KINDS: readonly SubmitKind[] = ['token', 'lookup', 'blind']
/** USD a second: a limit is in force, so that each job is held and settled. */
const PRICE = '0.01'
const CREDIT_USD = 100_000

export function modelOf(kind: SubmitKind): string {
  return `prove/${kind}`
}

export async function startVideoStand(proof: Proof, input: VideoStandInput): Promise<VideoStand> {
  const redis = await outsideRedis()
  if (redis !== null) proof.after(() => redis.close())
  const isLent = proof.isShort && input.isPostgresEnded !== true
  const postgres = await (isLent ? lentPostgres() : outsidePostgres())
  proof.after(() => postgres.close())
  const receiver = await startWebhookReceiver(input.statusOf)
  proof.after(() => receiver.close())
  const stand = await startStand({
    catalogue: catalogueOf(input),
    settings: {
      SLUICE_FRONTS: String(input.fronts),
      SLUICE_RUNNERS: String(input.runners),
      DATABASE_URL: postgres.url,
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
      SLUICE_EGRESS_ALLOW: receiver.allow,
      SLUICE_EGRESS_CA: receiver.rootFile,
      ...input.settings,
    },
  })
  proof.after(() => stand.stop())
  const store = await connected(openStore({ url: postgres.url, poolMax: 2, applicationName: 'sluice-prove' }))
  proof.after(() => store.close())
  await manage(stand, 'POST', '/credits', { amount_usd: CREDIT_USD, note: 'prove' })
  const client = new VideoClient(stand.port, stand.keys.inference_key)
  proof.after(async () => client.close())
  return {
    stand,
    store,
    postgres,
    redis,
    receiver,
    client,
    untilCalm: (msMax) => untilCalm(store, msMax),
    untilEnded: (kinds, msMax) => until(msMax, () => openJobs(store, kinds)),
  }
}

/** Milliseconds until all jobs have ended and all webhooks are delivered or dead; null after `msMax`. */
export function untilCalm(store: Store, msMax: number): Promise<number | null> {
  return until(msMax, () => openRows(store))
}

export function organizationOf({ stand }: VideoStand): string {
  return organizationAccount(stand.keys.organization_id)
}

export function catalogueOf({ providers, video = {} }: Pick<VideoStandInput, 'providers' | 'video'>): {
  readonly providers: readonly object[]
  readonly models: readonly object[]
} {
  return {
    providers: SUBMIT_KINDS.map((kind) => ({
      slug: kind,
      protocol: 'openai',
      base_url: providers[kind],
      api_key_env: PROVIDER_KEY,
      video: { submit: kind, ...video },
    })),
    models: SUBMIT_KINDS.map((kind) => ({
      id: modelOf(kind),
      name: `Prove ${kind}`,
      architecture: { input_modalities: ['text'], output_modalities: ['video'] },
      video: {
        durations: [4],
        resolutions: ['720p'],
        aspect_ratios: ['16:9'],
        seed: true,
        pricing_skus: { duration_seconds: PRICE },
      },
      endpoints: [{ provider: kind, upstream_model: `clip-${kind}` }],
    })),
  }
}

/** @param count of the rest; rejects when it is unknown now */
async function until(msMax: number, count: () => Promise<number>): Promise<number | null> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < msMax) {
    if ((await count().catch(() => Infinity)) === 0) return performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return null
}

const OPEN_STATES = ['accepted', 'submitting', 'running', 'storing']

async function openRows({ sql }: Store): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT (SELECT count(*) FROM video_jobs WHERE state IN ${sql(OPEN_STATES)})::int
      + (SELECT count(*) FROM webhook_deliveries WHERE state = 'waiting')::int AS count`
  return row?.count ?? Infinity
}

async function openJobs({ sql }: Store, kinds: readonly SubmitKind[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM video_jobs WHERE state IN ${sql(OPEN_STATES)} AND provider IN ${sql([...kinds])}`
  return row?.count ?? Infinity
}
