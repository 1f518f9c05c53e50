import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import type { ProviderVideo } from '../../../src/server/ports/models/models.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoProvider,
} from '../../../src/server/ports/videos/video-providers.ts'
import type {
  ClipInput,
  StoredClip,
  PollBudget,
  VideoMeters,
} from '../../../src/server/ports/videos/video-work.ts'
import type { VideoView, VideoWake } from '../../../src/server/ports/videos/videos.ts'
import { openVideoEngine, type VideoEngine } from '../../../src/server/runner/videos/engine.ts'
import { fakeClock, type FakeClock } from '../fake-clock.ts'
import { keptLog } from '../log.ts'
import { modelRows, type ModelRows } from './model-video-rows.ts'

/** A provider that does what a test says, and writes down what it was asked. */
export interface ScriptedProvider extends VideoProvider {
  readonly video: ProviderVideo
  /** `submit <job>`, `poll <upstream>`, … */
  readonly calls: string[]
  onSubmit: (order: VideoOrder, times: VideoCallTimes) => Submitted | Promise<Submitted>
  onPoll: (upstreamId: string, order: VideoOrder, times: VideoCallTimes) => Polled | Promise<Polled>
  onLookup: (order: VideoOrder, sinceMs: number) => LookedUp | Promise<LookedUp>
  onDownload: (order: VideoOrder, times: VideoCallTimes) => Outcome<ByteReader> | Promise<Outcome<ByteReader>>
}

export const VIDEO: ProviderVideo = {
  submit: 'token',
  tokenHeader: 'Idempotency-Key',
  pollsPerSecond: 1_000,
  pollFirstMs: 1_000,
  pollMaxMs: 8_000,
  submitTimeoutMs: 20_000,
  concurrency: 8,
  takesUrls: true,
}

export function scripted(slug: string, video: Partial<ProviderVideo> = {}): ScriptedProvider {
  const calls: string[] = []
  const provider: ScriptedProvider = {
    slug,
    calls,
    video: { ...VIDEO, ...video },
    onSubmit: ({ jobId }) => ({ kind: 'taken', upstreamId: `up-${jobId}` }),
    onPoll: () => ({ kind: 'made', sources: [{ kind: 'content', index: 0 }] }),
    onLookup: () => ({ kind: 'complete', upstreamIds: [] }),
    onDownload: () => ok(bytesOf('clip')),
    async submit(order, times) {
      if (!times.mayWrite()) return { kind: 'unsent', retryInMs: 0, error: 'late' }
      calls.push(`submit ${order.jobId}`)
      return provider.onSubmit(order, times)
    },
    async poll(order, upstreamId, times) {
      calls.push(`poll ${upstreamId}`)
      return provider.onPoll(upstreamId, order, times)
    },
    async lookup(order, sinceMs) {
      calls.push(`lookup ${order.jobId}`)
      return provider.onLookup(order, sinceMs)
    },
    async download(order, _upstreamId, _source, times) {
      calls.push(`download ${order.jobId}`)
      return provider.onDownload(order, times)
    },
    async cancel(_order, upstreamId) {
      calls.push(`cancel ${upstreamId}`)
    },
  }
  return provider
}

export interface World extends ModelRows {
  readonly clock: FakeClock
  readonly log: ReturnType<typeof keptLog>
  readonly views: Map<string, VideoView>
  readonly stored: string[]
  onStore: (input: ClipInput) => Outcome<StoredClip>
  /** Of metrics, as `submitted tokens taken`. */
  readonly counted: string[]
  readonly asked: number[]
  polls: PollBudget
  /** Wakes all engines. */
  wake(wake: VideoWake): void
  hasViews: boolean
  /** One more runner. */
  runner(): VideoEngine
}

export interface WorldOptions {
  readonly random?: () => number
  readonly clock?: FakeClock
}

/** Rows, providers, views and clips of a test, and runners that work on them. */
export function videoWorld(
  providers: readonly VideoProvider[],
  { random = () => 0.5, clock = fakeClock() }: WorldOptions = {},
): World {
  const model = modelRows(() => clock.now() + POSTGRES_AHEAD_MS)
  const listeners = new Set<(wake: VideoWake) => void>()
  const world: World = Object.assign(model, {
    clock,
    log: keptLog(),
    views: new Map<string, VideoView>(),
    stored: [] as string[],
    counted: [] as string[],
    asked: [] as number[],
    hasViews: true,
    onStore: ({ objectId }: ClipInput) => ok({ objectId, dataKeyId: 'k', sizeBytes: 4, sha256: '00' }),
    polls: {
      liveRunners: 1,
      take: async (_provider: string, _perSecond: number, want: number) => ({
        granted: want,
        retryAfterMs: 0,
      }),
    },
    wake: (wake: VideoWake) => listeners.forEach((reported) => reported(wake)),
    runner: () =>
      openVideoEngine({
        clock,
        random,
        work: model.work,
        log: world.log,
        meters: metersOf(world),
        providers: {
          all: providers,
          of: ({ provider }) => providers.find(({ slug }) => slug === provider) ?? null,
        },
        polls: {
          get liveRunners() {
            return world.polls.liveRunners
          },
          take: (...ask) => world.polls.take(...ask),
        },
        views: {
          put: async (view) => put(world, [view]),
          putAll: async (views) => put(world, views),
          get: async (id) => world.views.get(id) ?? null,
          wake: (wake) => world.wake(wake),
          onWake(reported) {
            listeners.add(reported)
            return () => void listeners.delete(reported)
          },
        },
        clips: {
          async store(input) {
            for (
              let piece = await input.bytes.next();
              piece.ok && piece.value !== null;
              piece = await input.bytes.next()
            ) {
              /* read away */
            }
            input.bytes.close()
            world.stored.push(input.objectId)
            return world.onStore(input)
          },
          remove: async () => ok(true),
        },
      }),
  })
  return world
}

/** Postgres and the runners have different clocks. */
export const POSTGRES_AHEAD_MS = 7_777_777

function put(world: World, views: readonly VideoView[]): boolean {
  if (world.hasViews) for (const view of views) world.views.set(view.id, view)
  return world.hasViews
}

function metersOf({ counted }: World): VideoMeters {
  const note = (name: string) => (provider: string, result: string) =>
    void counted.push(`${name} ${provider} ${result}`)
  return {
    claimed: (provider, count) => void counted.push(`claimed ${provider} ${count}`),
    submitted: note('submitted'),
    looked: note('looked'),
    polled: note('polled'),
    stored: note('stored'),
    ended: note('ended'),
    lost: (count) => void counted.push(`lost ${count}`),
  }
}

export function bytesOf(text: string): ByteReader {
  let left: Uint8Array | null = Buffer.from(text)
  return {
    async next() {
      const piece = left
      left = null
      return ok(piece)
    },
    close: () => undefined,
  }
}
