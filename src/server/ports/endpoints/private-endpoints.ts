import type { Outcome } from '../../../schemas/failures.ts'
import type {
  EndpointCheck,
  EndpointForm,
  EndpointPricing,
  EndpointRegion,
  EndpointStatus,
  FormFinding,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type { CallableModel, OwnListing } from '../models/models.ts'
import type { KeyRecord } from '../keys/keys.ts'
import type { ChangedBy } from '../vault/vault.ts'

export interface PrivateEndpoint {
  readonly id: string
  readonly organizationId: string
  /** The workspace of the last successful validation; null before the first. */
  readonly workspaceId: string | null
  readonly status: EndpointStatus
  readonly modelPermaslug: string
  readonly providerSlug: string
  readonly upstreamModelId: string
  /** Normalized. */
  readonly baseUrl: string
  readonly declaredRegion: EndpointRegion | null
  readonly declaredZdr: boolean | null
  /** Null: its calls are free, and their replies state that there is no price. */
  readonly pricing: EndpointPricing | null
  /** Name in the vault of its workspace; null: it has no credential. */
  readonly secretName: string | null
  /** The forms that it must serve; null: the forms that a validation finds. */
  readonly forms: readonly EndpointForm[] | null
  /** The forms that the last successful validation found; empty before the first. */
  readonly speaks: readonly EndpointForm[]
  readonly createdAt: Date
}

export interface EndpointRef {
  readonly organizationId: string
  /** As sent. */
  readonly id: string
}

export interface EndpointInput extends Omit<
  PrivateEndpoint,
  'id' | 'workspaceId' | 'status' | 'speaks' | 'createdAt'
> {
  /** A repetition with the same `fields` returns the endpoint that the first call created, in its current state. */
  readonly idempotency: { readonly key: string; readonly apiKeyHash: string; readonly fields: string } | null
}

export interface EndpointChanges {
  readonly upstreamModelId: string
  readonly baseUrl?: string
  readonly declaredRegion?: EndpointRegion | null
  readonly declaredZdr?: boolean | null
  readonly pricing?: EndpointPricing
  readonly secretName?: string | null
  readonly forms?: readonly EndpointForm[] | null
}

export interface EndpointActor extends ChangedBy {
  readonly operation: string
}

/** Allows one probe at a time over all fronts; valid for the longest time that a probe may take. */
export interface ProbeClaim {
  readonly token: string
  readonly endpoint: PrivateEndpoint
  /** The revision when the claim was made: a different one later means that the endpoint changed. */
  readonly revision: number
  /** A change of the configuration invalidates the claim. */
  readonly configRevision: number
}

export interface Validation {
  readonly passed: boolean
  readonly checks: readonly EndpointCheck[]
}

/** Failures of all: store_unavailable; of methods that name an endpoint: endpoint_unknown. */
export interface PrivateEndpoints {
  /** Oldest first. */
  list(organizationId: string): Promise<Outcome<readonly PrivateEndpoint[]>>
  get(ref: EndpointRef): Promise<Outcome<PrivateEndpoint>>
  /** Failures: endpoints_full, idempotency_key_reused, endpoint_unknown (the first endpoint of this key was deleted). */
  create(
    input: EndpointInput,
    by: EndpointActor,
  ): Promise<Outcome<{ readonly endpoint: PrivateEndpoint; readonly isReplay: boolean }>>
  /** Invalidates every earlier validation. Failure: endpoint_not_draft. */
  update(ref: EndpointRef, changes: EndpointChanges, by: EndpointActor): Promise<Outcome<PrivateEndpoint>>
  setPricing(ref: EndpointRef, pricing: EndpointPricing, by: EndpointActor): Promise<Outcome<PrivateEndpoint>>
  /** Failure: endpoint_not_active. */
  disable(ref: EndpointRef, by: EndpointActor): Promise<Outcome<PrivateEndpoint>>
  /** Failures: endpoint_not_disabled, workspace_endpoints_full, workspace_unknown (deleted). */
  enable(ref: EndpointRef, by: EndpointActor): Promise<Outcome<PrivateEndpoint>>
  /** @param isDraftOnly keeps an endpoint that was ever activated. Failure: endpoint_was_active. */
  remove(ref: EndpointRef, isDraftOnly: boolean, by: EndpointActor): Promise<Outcome<null>>
  /** Failures: endpoint_active, probe_running. */
  claimValidation(ref: EndpointRef): Promise<Outcome<ProbeClaim>>
  /** Failures: not_validated, validation_stale, endpoint_active, probe_running. */
  claimActivation(ref: EndpointRef): Promise<Outcome<ProbeClaim>>
  /** For a probe without a result; does not affect a claim that another process has taken meanwhile. */
  dropClaim(claim: ProbeClaim): Promise<void>
  facts(input: {
    readonly organizationId: string
    readonly workspaceId: string
    readonly secret: { readonly name: string; readonly host: string } | null
  }): Promise<Outcome<WorkspaceFacts>>
  /** Ends the claim. Failure: endpoint_changed (during the probe, so that its result does not apply). */
  validated(
    claim: ProbeClaim,
    result: Validation & { readonly workspaceId: string; readonly speaks: readonly EndpointForm[] },
    by: EndpointActor,
  ): Promise<Outcome<null>>
  /** Ends the claim. Failures: endpoint_changed, workspace_endpoints_full, workspace_unknown (deleted). */
  activated(claim: ProbeClaim, by: EndpointActor): Promise<Outcome<PrivateEndpoint>>
  active(workspaceId: string): Promise<Outcome<readonly PrivateEndpoint[]>>
}

export interface WorkspaceFacts {
  readonly exists: boolean
  readonly isFull: boolean
  /** True when a secret with the endpoint's secret name is bound to its host. */
  readonly hasSecret: boolean
}

export interface ProbeInput {
  readonly endpoint: PrivateEndpoint
  readonly workspaceId: string
  /** Forms that must all be served; null: all forms of its protocol are probed, and at least one must be served. */
  readonly forms: readonly EndpointForm[] | null
  readonly by: EndpointActor
  readonly call: { readonly signal: AbortSignal }
}

/** The result of a real, minimal request in each form to an upstream. */
export interface ProbeResult {
  /**
   * All checks of one form: the first required form that failed, otherwise the first form that is served,
   * otherwise the form that passed the most checks.
   */
  readonly checks: readonly EndpointCheck[]
  /** Empty when no form was probed. */
  readonly forms: readonly FormFinding[]
  /** The upstream did not answer within PROBE_MS_MAX. */
  readonly isSlow: boolean
}

export interface EndpointProber {
  /** Null: Sluice has no protocol for the provider. */
  nameOf(providerSlug: string): string | null
  /** True when the gate allows callers to reach the destination. */
  mayReach(baseUrl: string): boolean
  /** Failures: busy (the audit log has no room to record the release), store_unavailable. */
  probe(input: ProbeInput): Promise<Outcome<ProbeResult>>
}

export interface WorkspaceModels {
  /** @param id of a model, as a caller sends it. @returns null: neither the catalogue nor the workspace has it */
  resolve(id: string): CallableModel | null
  readonly listing: OwnListing
}

/** Every front applies a change within 250 ms. */
export interface PrivateModels {
  /**
   * Null, without a promise, when the workspace has no private endpoints; waits for the store at the first
   * call and after a change. Failures: store_unavailable, busy.
   */
  of(key: KeyRecord): WorkspaceModels | null | Promise<Outcome<WorkspaceModels | null>>
}
