import type { SubmitKind } from '../../../src/schemas/videos/video-models.ts'
import type { Submitted } from '../../../src/server/ports/videos/video-providers.ts'
import type { FakeClock } from '../fake-clock.ts'
import { scripted, type ScriptedProvider } from './video-world.ts'

/** A job as the provider has it. */
interface Made {
  readonly id: string
  readonly token: string
  readonly prompt: string
  readonly readyAt: number
  readonly listedAt: number
}

export interface ModelProvider {
  readonly provider: ScriptedProvider
  /** Submissions that reached the provider, by job, each with its token. */
  readonly reached: Map<string, string[]>
  /** What a provider must never see, in words. */
  readonly mistakes: string[]
  /** From now on it does what it should. */
  calm(): void
}

/** The provider's books: its jobs, and what it saw. */
interface Books extends Pick<ModelProvider, 'reached' | 'mistakes'> {
  readonly jobs: readonly Made[]
  /** The job of a submission that arrives: a new job, or the same job again by its token. */
  take(jobId: string, token: string, at: number): Made
}

export interface ModelProviderOptions {
  readonly kind: SubmitKind
  readonly clock: FakeClock
  readonly random: () => number
}

const QUIET_MS = 5_000

/**
 * A provider that loses requests and answers and is late, but never lies: a repeated `token` gets the same
 * job again; its list shows a job within the quiet time of `lookup`.
 */
export function modelProvider(slug: string, { kind, clock, random }: ModelProviderOptions): ModelProvider {
  const provider = scripted(slug, {
    submit: kind,
    submitTimeoutMs: 3_000,
    lookupQuietMs: QUIET_MS,
    pollFirstMs: 200,
    pollMaxMs: 2_000,
  })
  const { jobs, reached, mistakes, take } = openBooks(slug, { kind, random })
  let faults = 0.4
  const happens = (share = faults): boolean => random() < share
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))
  /** Of what has left: the provider has it then, whether or not the runner stands still meanwhile. */
  const arrival = async (msMax: number): Promise<number> => {
    const ms = random() * msMax
    const at = clock.now() + ms
    await wait(ms)
    return at
  }
  provider.onSubmit = async ({ jobId, submitToken }, times): Promise<Submitted> => {
    if (happens(faults / 4)) return { kind: 'unsent', retryInMs: random() * 1_000, error: 'busy' }
    if (happens(faults / 4)) return { kind: 'unknown', error: 'lost on its way' }
    const { id } = take(jobId, submitToken, await arrival(200))
    if (happens(faults / 2)) await wait(Math.max(0, times.endsAt - clock.now()))
    else if (!happens(faults / 2)) return { kind: 'taken', upstreamId: id }
    return { kind: 'unknown', error: 'the answer was lost' }
  }
  provider.onPoll = async (upstreamId) => {
    const at = await arrival(100)
    const job = jobs.find(({ id }) => id === upstreamId)
    if (happens()) return { kind: 'unavailable', retryInMs: happens() ? 500 : null, error: 'HTTP 500' }
    if (job === undefined || happens(faults / 8))
      return { kind: 'failed', error: 'provider_failed: moderated' }
    return at < job.readyAt
      ? { kind: 'running', retryInMs: null }
      : { kind: 'made', sources: [{ kind: 'content', index: 0 }] }
  }
  provider.onLookup = async ({ jobId }) => {
    const at = await arrival(100)
    if (happens()) return { kind: 'unavailable', error: 'HTTP 500' }
    const listed = jobs.filter((job) => job.listedAt <= at && job.prompt === jobId).map(({ id }) => id)
    return { kind: happens() ? 'partial' : 'complete', upstreamIds: listed }
  }
  return {
    provider,
    reached,
    mistakes,
    calm() {
      faults = 0
    },
  }
}

function openBooks(slug: string, { kind, random }: Pick<ModelProviderOptions, 'kind' | 'random'>): Books {
  const jobs: Made[] = []
  const reached = new Map<string, string[]>()
  const mistakes: string[] = []
  return {
    jobs,
    reached,
    mistakes,
    take(jobId: string, token: string, at: number): Made {
      const before = reached.get(jobId) ?? []
      reached.set(jobId, [...before, token])
      if (before.some((other) => other !== token)) mistakes.push(`${jobId} came with two tokens`)
      if (kind === 'blind' && before.length > 0) mistakes.push(`${jobId} came twice to a blind provider`)
      const known = jobs.find((job) => job.prompt === jobId)
      if (kind === 'lookup' && known !== undefined && known.listedAt <= at)
        mistakes.push(`${jobId} came again although it is listed`)
      if (kind === 'token' && known !== undefined) return known
      const job = {
        id: `${slug}-${jobs.length}`,
        token,
        prompt: jobId,
        readyAt: at + random() * 8_000,
        listedAt: at + random() * QUIET_MS,
      }
      jobs.push(job)
      return job
    },
  }
}
