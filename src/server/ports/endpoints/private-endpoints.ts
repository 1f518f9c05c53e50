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
  /** The workspace of the last passing validation; null before the first. */
  readonly workspaceId: string | null
  readonly status: EndpointStatus
  readonly modelPermaslug: string
  readonly providerSlug: string
  readonly upstreamModelId: string
  /** Normalized. */
  readonly baseUrl: string
  readonly declaredRegion: EndpointRegion | null
  readonly declaredZdr: boolean | null
  /** Null: its calls are free, and their replies say so. */
  readonly pricing: EndpointPricing | null
  /** Name in the vault of its workspace; null: it has no credential. */
  readonly secretName: string | null
  /** The forms that it has to serve; null: those that a validation finds. */
  readonly forms: readonly EndpointForm[] | null
  /** The forms that the last passing validation found; empty before the first. */
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
  /** A repetition with the same `fields` returns the first endpoint as it is now. */
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

/** One probe at a time on all fronts, for as long as a probe may take. */
export interface ProbeClaim {
  readonly token: string
  readonly endpoint: PrivateEndpoint
  /** At the claim: another revision by now means that something changed. */
  readonly revision: number
  /** A change of the configuration ends the claim. */
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
  /** Ends every earlier validation. Failure: endpoint_not_draft. */
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
  /** For a probe without a result; a claim that another process holds by now is left alone. */
  dropClaim(claim: ProbeClaim): Promise<void>
  facts(input: {
    readonly organizationId: string
    readonly workspaceId: string
    readonly secret: { readonly name: string; readonly host: string } | null
  }): Promise<Outcome<WorkspaceFacts>>
  /** Ends the claim. Failure: endpoint_changed (meanwhile, so that the result does not apply). */
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
  /** A secret of that name is bound to that host. */
  readonly hasSecret: boolean
}

export interface ProbeInput {
  readonly endpoint: PrivateEndpoint
  readonly workspaceId: string
  /** Forms of which each has to be served; null: all that its protocol may have, of which one has to be. */
  readonly forms: readonly EndpointForm[] | null
  readonly by: EndpointActor
  readonly call: { readonly signal: AbortSignal }
}

/** The result of a real minimal request to an upstream in each form. */
export interface ProbeResult {
  /** All for one form: the first failing one that has to be served, else the first that is served, else the one that got furthest. */
  readonly checks: readonly EndpointCheck[]
  /** Empty when no form was probed. */
  readonly forms: readonly FormFinding[]
  /** The upstream did not answer within PROBE_MS_MAX. */
  readonly isSlow: boolean
}

export interface EndpointProber {
  /** Null: Sluice knows no protocol for the provider. */
  nameOf(providerSlug: string): string | null
  /** Whether the gate allows the destination to any caller. */
  mayReach(baseUrl: string): boolean
  /** Failures: busy (the audit log cannot take the release), store_unavailable. */
  probe(input: ProbeInput): Promise<Outcome<ProbeResult>>
}

export interface WorkspaceModels {
  /** @param id as a caller names a model. @returns null: neither the catalogue nor the workspace has it */
  resolve(id: string): CallableModel | null
  readonly listing: OwnListing
}

/** Every front learns a change within 250 ms. */
export interface PrivateModels {
  /** Null at once without private endpoints; waits for the store at the first call and after a change. Failures: store_unavailable, busy. */
  of(key: KeyRecord): WorkspaceModels | null | Promise<Outcome<WorkspaceModels | null>>
}
