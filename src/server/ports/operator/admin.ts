import type { AdminJobStep } from '../../../schemas/operator/admin.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { VideoState, VideoStatus } from '../../../schemas/videos/video-jobs.ts'
import type { DeliveryState, WebhookReason } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../vault/vault.ts'
import type { Page, PageInput, WorkspaceActor } from '../workspaces/workspaces.ts'
import type { Capped } from '../../../schemas/operator/caps.ts'

export interface OperatorSession {
  readonly organization: { readonly id: string; readonly name: string }
  readonly version: string
}

/** Left-out filters match every row. The first filter is exact; the others select among its newest ADMIN_LISTED_MAX rows. */
export interface JobListInput extends PageInput {
  readonly organizationId: string
  /** UUID or slug; a deleted workspace is found by its UUID. */
  readonly workspace?: string
  readonly status?: VideoStatus
  readonly provider?: string
}

export interface DeliveryListInput extends PageInput {
  readonly organizationId: string
  readonly workspace?: string
  readonly state?: DeliveryState
}

export interface JobRecord {
  readonly id: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly model: string
  readonly provider: string
  readonly state: VideoState
  readonly submissions: number
  readonly polls: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly endedAt: Date | null
  /** `<code>: <text>`, or only a text. */
  readonly error: string | null
  /** Whole nano-USD: the cost of a completed job, or the hold of an open one; null = unpriced. */
  readonly costNano: number | null
  readonly delivery: { readonly id: string; readonly state: DeliveryState } | null
}

export interface JobDetails extends JobRecord {
  readonly requestId: string
  readonly keyHash: string
  readonly generationId: string | null
  readonly endpoint: string
  readonly upstreamModel: string
  readonly upstreamId: string | null
  readonly isByok: boolean
  readonly seconds: number
  /** In their order. */
  readonly steps: readonly { readonly step: AdminJobStep; readonly at: Date }[]
  /** Null: the job is not open. `until` is null when no runner will take the job. */
  readonly lease: { readonly attempt: number; readonly until: Date | null } | null
  readonly expiresAt: Date
  readonly clips: readonly {
    readonly index: number
    readonly sizeBytes: number
    readonly sha256: string
    readonly createdAt: Date
  }[]
  readonly clipsMade: number
  readonly clipsExpireAt: Date | null
  readonly callbackHost: string | null
  readonly deliveries: readonly DeliveryRecord[]
}

/** Only the host of the URL: the rest may be a caller's secret. */
export interface DeliveryRecord {
  readonly id: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly jobId: string
  readonly host: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastReason: WebhookReason | null
  readonly createdAt: Date
  readonly dueAt: Date | null
  readonly endedAt: Date | null
}

export interface StorageRecord {
  readonly workspaceId: string
  readonly slug: string
  readonly name: string
  /** ADMIN_FILES_COUNTED_MAX at most. */
  readonly files: number
  readonly fileBytes: number
  readonly containerBytes: number
  readonly quotaBytes: number
  /** ADMIN_FILE_TYPES_MAX at most, the largest first; null when the request was not for a single workspace. */
  readonly types: readonly FileTypeRecord[] | null
}

export interface FileTypeRecord {
  readonly mimeType: string
  readonly files: number
  readonly bytes: number
}

export interface StorageReport extends Page<StorageRecord> {
  /** The last complete sweep; null: none yet, or the organization does not operate the installation. */
  readonly sweep: SweepRecord | null
}

export interface SweepRecord {
  readonly endedAt: Date
  /** Counts of removed or recounted objects, by kind. */
  readonly report: Readonly<Record<string, number>>
}

export interface AdminActor extends ChangedBy {
  readonly operation: string
}

export interface ClipRead {
  readonly organizationId: string
  readonly workspaceId: string
  readonly jobId: string
  readonly index: number
}

export interface DeadInput {
  readonly organizationId: string
  /** UUID or slug; null = all workspaces. */
  readonly workspace: string | null
  readonly countMax: number
}

/** Records of the caller's organization only. Failures of all: store_unavailable; of methods that name a workspace: workspace_unknown. */
export interface AdminRecords {
  /** Failure: operator_only, when the organization does not operate the installation. */
  session(organizationId: string): Promise<Outcome<OperatorSession>>
  /** Newest first. */
  jobs(input: JobListInput): Promise<Outcome<Page<JobRecord>>>
  /** Failure: video_unknown. */
  job(organizationId: string, id: string): Promise<Outcome<JobDetails>>
  /** Failure: video_unknown. */
  workspaceOfJob(organizationId: string, id: string): Promise<Outcome<string>>
  /** Writes the audit event before the clip is sent to an operator. */
  noteClip(read: ClipRead, by: AdminActor): Promise<Outcome<null>>
  /** Newest first. */
  deliveries(input: DeliveryListInput): Promise<Outcome<Page<DeliveryRecord>>>
  /** Makes the webhook due immediately, with all attempts available again. Failures: delivery_unknown, delivery_waiting. */
  replay(organizationId: string, id: string, by: AdminActor): Promise<Outcome<null>>
  /** Makes dead letters due immediately. */
  replayDead(
    input: DeadInput,
    by: AdminActor,
  ): Promise<Outcome<{ readonly replayed: number; readonly hasMore: boolean }>>
  /** Workspaces that are not deleted, oldest first. */
  storage(input: StorageInput): Promise<Outcome<StorageReport>>
}

export interface StorageInput {
  readonly organizationId: string
  readonly page: PageInput
  /** UUID or slug; null = all. */
  readonly workspace: string | null
  /** Ends the wait for a turn. */
  readonly signal: AbortSignal
}

interface CapState {
  readonly cap: number
  readonly used: number
  /** False: the installation's cap applies. */
  readonly isOwn: boolean
}

export interface CapsState {
  readonly organizationId: string
  readonly states: ReadonlyMap<Capped, CapState>
}

/** Null: the installation's cap applies again; caps that are left out do not change. */
export type CapChanges = Readonly<Partial<Record<Capped, number | null>>>

/** Caps on the numbers of objects that organizations may have. Failures of both: organization_unknown, store_unavailable. */
export interface OrganizationCaps {
  read(organizationId: string): Promise<Outcome<CapsState>>
  update(organizationId: string, changes: CapChanges, by: WorkspaceActor): Promise<Outcome<CapsState>>
}

/** The organizations whose keys may decide about the installation's costs. */
export interface Operators {
  /** The key's own organization, or the organization that an operator names. Failures: operator_only, organization_unknown, store_unavailable. */
  targetOf(askingId: string, namedId: string | undefined): Promise<Outcome<string>>
}
