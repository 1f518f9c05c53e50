import { VIDEO_LEASE_MS } from '../../../src/schemas/videos/video-limits.ts'
import { videoStatusOf, isVideoEnding, type VideoState } from '../../../src/schemas/videos/video-jobs.ts'
import type {
  ClaimedVideo,
  VideoEnd,
  VideoMade,
  VideoWork,
} from '../../../src/server/ports/videos/video-work.ts'
import type { VideoAttached, VideoView } from '../../../src/server/ports/videos/videos.ts'

/** A row as the model store keeps it. */
export interface ModelRow {
  readonly id: string
  readonly workspaceId: string
  readonly provider: string
  readonly submitToken: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  state: VideoState
  attempt: number
  leaseUntil: number
  submissions: number
  polls: number
  submittedAtMs: number | null
  submitEndsAtMs: number | null
  upstreamId: string | null
  made: VideoMade | null
  attached: VideoAttached | null
  /** How it ended, and how often: more than once is a mistake of the store. */
  end: VideoEnd | null
}

export interface ModelRows {
  readonly work: VideoWork
  readonly rows: Map<string, ModelRow>
  add(row: Partial<ModelRow> & { readonly id: string }): ModelRow
  cancel(id: string): void
  /** Asked before a call of the store: `lost` fails before anything happens, `unheard` after all of it. */
  fault: (method: keyof VideoWork) => 'none' | 'lost' | 'unheard'
  readonly calls: string[]
}

const OPEN: ReadonlySet<VideoState> = new Set(['accepted', 'submitting', 'running', 'storing'])

/** The store of the engine in memory, with the guards and leases of the real one. */
export function modelRows(now: () => number): ModelRows {
  const rows = new Map<string, ModelRow>()
  const calls: string[] = []
  const model: ModelRows = {
    rows,
    calls,
    work: {} as VideoWork,
    fault: () => 'none',
    add(given) {
      const row: ModelRow = {
        workspaceId: 'w1',
        provider: 'tokens',
        submitToken: `token-${given.id}`,
        createdAtMs: now(),
        expiresAtMs: now() + 86_400_000,
        state: 'accepted',
        attempt: 0,
        leaseUntil: now() - 1,
        submissions: 0,
        polls: 0,
        submittedAtMs: null,
        submitEndsAtMs: null,
        upstreamId: null,
        made: null,
        attached: null,
        end: null,
        ...given,
      }
      rows.set(row.id, row)
      return row
    },
    cancel(id) {
      const row = rows.get(id)
      if (row !== undefined && OPEN.has(row.state))
        Object.assign(row, { state: 'cancelled', attempt: row.attempt + 1 })
    },
  }
  const bare = { ...claims(rows, now), ...steps(rows, now) }
  Object.assign(
    model.work,
    Object.fromEntries(
      Object.entries(bare).map(([name, method]) => [
        name,
        async (...args: unknown[]) => {
          calls.push(name)
          const fault = model.fault(name as keyof VideoWork)
          if (fault === 'lost') throw new Error('the store is away')
          const answer: unknown = await (method as (...args: unknown[]) => Promise<unknown>)(...args)
          if (fault === 'unheard') throw new Error('the store went away')
          return answer
        },
      ]),
    ),
  )
  return model
}

type Rows = ReadonlyMap<string, ModelRow>

function oursOf(rows: Rows) {
  return ({ id, attempt }: { readonly id: string; readonly attempt: number }): ModelRow | null => {
    const row = rows.get(id)
    return row !== undefined && OPEN.has(row.state) && row.attempt === attempt ? row : null
  }
}

function claims(rows: Rows, now: () => number): Pick<VideoWork, 'claim' | 'due' | 'renew' | 'release'> {
  const ours = oursOf(rows)
  const busyUntil = (row: ModelRow, ms: number): number =>
    (row.state === 'submitting' ? Math.max(now(), row.submitEndsAtMs ?? 0) : now()) + ms
  return {
    async claim(room, leaseMs) {
      const taken: ClaimedVideo[] = []
      for (const [provider, count] of room) {
        const due = [...rows.values()].filter(
          (row) => row.provider === provider && OPEN.has(row.state) && row.leaseUntil < now(),
        )
        for (const row of due.sort((a, b) => a.leaseUntil - b.leaseUntil).slice(0, count)) {
          row.attempt++
          row.leaseUntil = busyUntil(row, leaseMs)
          taken.push(claimOf(row, now()))
        }
      }
      return taken
    },
    async due() {
      const counts = new Map<string, number>()
      for (const row of rows.values()) {
        if (OPEN.has(row.state) && row.leaseUntil < now())
          counts.set(row.provider, (counts.get(row.provider) ?? 0) + 1)
      }
      return counts
    },
    async renew(claims, leaseMs) {
      const lost: string[] = []
      for (const claim of claims) {
        const row = ours(claim)
        if (row === null) lost.push(claim.id)
        else Object.assign(row, { leaseUntil: busyUntil(row, leaseMs), polls: claim.polls })
      }
      return lost
    },
    async release(claims, dueInMs) {
      for (const claim of claims) {
        const row = ours(claim)
        if (row !== null)
          Object.assign(row, {
            attempt: row.attempt + 1,
            leaseUntil: busyUntil(row, dueInMs) - 1,
            polls: claim.polls,
          })
      }
    },
  }
}

function steps(rows: Rows, now: () => number): Omit<VideoWork, 'claim' | 'due' | 'renew' | 'release'> {
  const ours = oursOf(rows)
  const step = (claim: ClaimedVideo, from: VideoState, change: Partial<ModelRow>): ClaimedVideo | null => {
    const row = ours(claim)
    if (row?.state !== from) return null
    return claimOf(Object.assign(row, change), now())
  }
  return {
    submitting: async (claim, { leaseMs, callMs }) =>
      step(claim, claim.state, {
        state: 'submitting',
        submissions: claim.submissions + 1,
        submittedAtMs: now(),
        submitEndsAtMs: now() + callMs,
        leaseUntil: now() + leaseMs + callMs,
      }),
    unsubmitted: async (claim) =>
      step(claim, 'submitting', {
        state: 'accepted',
        submitEndsAtMs: null,
        leaseUntil: now() + VIDEO_LEASE_MS,
      }),
    async submitted(claim, upstreamId) {
      for (const row of rows.values()) {
        if (row.id !== claim.id && row.provider === claim.target.provider && row.upstreamId === upstreamId)
          return 'owned'
      }
      return (
        step(claim, 'submitting', {
          state: 'running',
          upstreamId,
          submitEndsAtMs: null,
          leaseUntil: now() + VIDEO_LEASE_MS,
        }) ?? 'lost'
      )
    },
    made: async (claim, made) => step(claim, 'running', { state: 'storing', made, polls: claim.polls }),
    async end(claim, end) {
      const row = ours(claim)
      if (row === null) return null
      Object.assign(row, { state: end.kind, attempt: row.attempt + 1, polls: claim.polls, end })
      return viewOf(row)
    },
    owned: async (claim, ids) =>
      new Set(
        [...rows.values()]
          .filter((row) => row.id !== claim.id && row.upstreamId !== null && ids.includes(row.upstreamId))
          .map(({ upstreamId }) => upstreamId ?? ''),
      ),
    async view(id) {
      const row = rows.get(id)
      return row === undefined ? null : viewOf(row)
    },
    views: async (after, countMax) =>
      [...rows.values()]
        .filter(({ id }) => after === null || id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, countMax)
        .map(viewOf),
    attached: async (claim) => ours(claim)?.attached ?? null,
    expireClips: async () => [],
  }
}
export function viewOf({ id, workspaceId, state, end }: ModelRow): VideoView {
  const isDone = state === 'completed'
  return {
    id,
    workspaceId,
    status: videoStatusOf(state),
    generationId: null,
    error: end?.kind === 'failed' || end?.kind === 'expired' ? end.error : null,
    outputs: end?.kind === 'completed' ? end.clips.length : 0,
    usage: isDone ? { costNano: 1, isByok: false } : null,
  }
}

function claimOf(row: ModelRow, readAtMs: number): ClaimedVideo {
  const { id, workspaceId, provider, attempt, state } = row
  if (isVideoEnding(state)) throw new Error('a job that has ended was claimed')
  return {
    id,
    workspaceId,
    attempt,
    state,
    readAtMs,
    organizationId: 'o1',
    keyHash: 'key',
    requestId: `request-${id}`,
    target: { model: 'm', provider, endpoint: `${provider}/m`, upstreamModel: 'm', ownSecret: null },
    request: {
      prompt: `prompt of ${id}`,
      seconds: 5,
      resolution: null,
      aspectRatio: null,
      size: null,
      seed: null,
      hasAudio: false,
      frames: [],
      references: [],
      creativity: null,
      upscaleFactor: null,
      passthrough: {},
      previousUpstreamId: null,
      user: null,
    },
    hasAttached: row.attached !== null,
    submitToken: row.submitToken,
    submissions: row.submissions,
    polls: row.polls,
    submittedAtMs: row.submittedAtMs,
    submitEndsAtMs: row.submitEndsAtMs,
    upstreamId: row.upstreamId,
    generationId: null,
    made: row.made,
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs,
  }
}
