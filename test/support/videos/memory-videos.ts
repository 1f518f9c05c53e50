/**
 * Video jobs in memory, for tests of the operations alone: it does what the port says, and keeps what it was
 * asked.
 */
import { fail, ok, type Failure, type Outcome } from '../../../src/schemas/failures.ts'
import { isVideoEnding } from '../../../src/schemas/videos/video-jobs.ts'
import type {
  PreviousVideo,
  VideoJobs,
  VideoOutput,
  VideoView,
  VideoInput,
} from '../../../src/server/ports/videos/videos.ts'

export interface MemoryVideos extends VideoJobs {
  /** Every wish that became a job, in order. */
  readonly inputs: readonly VideoInput[]
  /** Changes a job, or adds one that no caller asked for. */
  put(view: Partial<VideoView> & Pick<VideoView, 'id'>, of?: Partial<Job>): void
  /** What `accept` answers from now on; null: it accepts. */
  refuse(failure: Failure | null): void
}

interface Job {
  readonly view: VideoView
  readonly outputs: readonly VideoOutput[]
  readonly previous: PreviousVideo
  readonly isExpired: boolean
}

/** @param workspaceId of jobs that are put without one */
export function memoryVideos(workspaceId = 'w'): MemoryVideos {
  const jobs = new Map<string, Job>()
  const inputs: VideoInput[] = []
  let refusal: Failure | null = null
  const find = (workspace: string, id: string): Outcome<Job> => {
    const job = jobs.get(id)
    return job?.view.workspaceId === workspace ? ok(job) : fail('video_unknown')
  }
  const done = (workspace: string, id: string): Outcome<Job> => {
    const job = find(workspace, id)
    return job.ok && job.value.view.status !== 'completed' ? fail('video_unfinished') : job
  }
  const viewOf = (job: Outcome<Job>): Outcome<VideoView> => (job.ok ? ok(job.value.view) : job)
  const videos: MemoryVideos = {
    inputs,
    refuse: (failure) => void (refusal = failure),
    put(view, of = {}) {
      const before = jobs.get(view.id)
      const whole = { ...PENDING, workspaceId, ...before?.view, ...view }
      jobs.set(view.id, { ...NEW, ...before, ...of, view: whole })
    },
    async accept(input) {
      if (refusal !== null) return { ok: false, failure: refusal }
      inputs.push(input)
      const id = `vid_${String(inputs.length).padStart(32, '0')}`
      const { provider, ownSecret } = input.target
      const {
        request: { seconds },
        costNano,
        workspaceId: owner,
      } = input
      videos.put(
        { id, workspaceId: owner },
        { previous: { provider, upstreamId: `up-${id}`, ownSecret, seconds, costNano } },
      )
      return viewOf(find(input.workspaceId, id))
    },
    get: async (workspace, id) => viewOf(find(workspace, id)),
    async list(workspace, { after, limit }) {
      const all = [...jobs.values()].map(({ view }) => view).filter((view) => view.workspaceId === workspace)
      const newest = all
        .sort((one, other) => (one.id < other.id ? 1 : -1))
        .filter(({ id }) => after === null || id < after)
      return ok({ videos: newest.slice(0, limit), hasMore: newest.length > limit })
    },
    async cancel(workspace, id) {
      const job = find(workspace, id)
      if (!job.ok) return job
      if (hasEnded(job.value.view.status)) return fail('video_ended')
      videos.put({ id, status: 'cancelled' })
      return viewOf(find(workspace, id))
    },
    async output(workspace, id, index) {
      const job = done(workspace, id)
      if (!job.ok) return job
      if (index >= job.value.view.outputs) return fail('video_output_unknown')
      const output = job.value.outputs[index]
      return output === undefined || job.value.isExpired ? fail('video_expired') : ok(output)
    },
    async previous(workspace, id) {
      const job = done(workspace, id)
      return job.ok ? ok(job.value.previous) : job
    },
  }
  return videos
}

const NEW = {
  outputs: [],
  previous: { provider: 'local', upstreamId: 'up', ownSecret: null, seconds: 5, costNano: 0 },
  isExpired: false,
} as const
const PENDING = { status: 'pending', generationId: null, error: null, outputs: 0, usage: null } as const

function hasEnded(status: VideoView['status']): boolean {
  return status !== 'pending' && status !== 'in_progress' && isVideoEnding(status)
}
