import type {
  AdminDeliveryShape,
  AdminJobDetailsShape,
  AdminJobShape,
  AdminStorageShape,
} from '../../../schemas/operator/admin.ts'
import { videoStatusOf } from '../../../schemas/videos/video-jobs.ts'
import type { DeliveryRecord, JobDetails, JobRecord, StorageRecord } from '../../ports/operator/admin.ts'
import type { PageInput } from '../../ports/workspaces/workspaces.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'
import { ADMIN_PAGE_DEFAULT } from '../../../schemas/operator/admin-port-limits.ts'

export const EXAMPLE_JOB = 'vid_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'
export const EXAMPLE_DELIVERY = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'

export function pageOf({ limit = ADMIN_PAGE_DEFAULT, offset = 0 }: Partial<PageInput>): PageInput {
  return { limit, offset }
}

export function jobWire(job: JobRecord): AdminJobShape {
  const status = videoStatusOf(job.state)
  return {
    id: job.id,
    workspace_id: job.workspaceId,
    workspace_slug: job.workspaceSlug,
    model: job.model,
    provider: job.provider,
    status,
    submissions: job.submissions,
    polls: job.polls,
    created_at: job.createdAt.toISOString(),
    updated_at: job.updatedAt.toISOString(),
    ended_at: instantOf(job.endedAt),
    error: job.error === null ? null : errorOf(job.error, status),
    cost_usd: status === 'completed' ? usdOf(job.costNano) : null,
    delivery: job.delivery,
  }
}

export function jobDetailsWire(job: JobDetails): AdminJobDetailsShape {
  const isOpen = job.lease !== null
  return {
    ...jobWire(job),
    request_id: job.requestId,
    key_hash: job.keyHash,
    generation_id: job.generationId,
    endpoint: job.endpoint,
    upstream_model: job.upstreamModel,
    upstream_id: job.upstreamId,
    is_byok: job.isByok,
    seconds: job.seconds,
    held_usd: isOpen ? usdOf(job.costNano) : null,
    steps: job.steps.map(({ step, at }) => ({ step, at: at.toISOString() })),
    lease: job.lease === null ? null : { attempt: job.lease.attempt, until: instantOf(job.lease.until) },
    expires_at: job.expiresAt.toISOString(),
    clips: job.clips.map((clip) => ({
      index: clip.index,
      bytes: clip.sizeBytes,
      sha256: clip.sha256,
      created_at: clip.createdAt.toISOString(),
    })),
    clips_made: job.clipsMade,
    clips_expire_at: instantOf(job.clipsExpireAt),
    callback_host: job.callbackHost,
    deliveries: job.deliveries.map(deliveryWire),
  }
}

export function deliveryWire(delivery: DeliveryRecord): AdminDeliveryShape {
  return {
    id: delivery.id,
    workspace_id: delivery.workspaceId,
    workspace_slug: delivery.workspaceSlug,
    job_id: delivery.jobId,
    host: delivery.host,
    state: delivery.state,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_reason: delivery.lastReason,
    created_at: delivery.createdAt.toISOString(),
    due_at: instantOf(delivery.dueAt),
    ended_at: instantOf(delivery.endedAt),
  }
}

export function storageWire(place: StorageRecord): AdminStorageShape {
  return {
    workspace_id: place.workspaceId,
    slug: place.slug,
    name: place.name,
    files: place.files,
    bytes: place.fileBytes,
    containers_bytes: place.containerBytes,
    quota_bytes: place.quotaBytes,
    ...(place.types !== null && {
      types: place.types.map(({ mimeType, files, bytes }) => ({ mime_type: mimeType, files, bytes })),
    }),
  }
}

/** Errors of jobs have the form `<code>: <text>`; some, such as that of a cancelled job, are only a text. */
function errorOf(text: string, status: string): { readonly code: string; readonly message: string } {
  const [, code, message] = /^([a-z_]+): ([\s\S]*)$/.exec(text) ?? []
  return { code: code ?? status, message: message ?? text }
}

function instantOf(at: Date | null): string | null {
  return at === null ? null : at.toISOString()
}

function usdOf(nano: number | null): number | null {
  return nano === null ? null : usdOfNano(nano)
}
