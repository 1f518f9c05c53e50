import type { TSchema } from 'typebox'
import { ReplayDeadBody } from './operator/admin.ts'
import { BudgetBody } from './money/budgets.ts'
import { CapsBody } from './operator/caps.ts'
import { CreditBody } from './money/credits.ts'
import { ChatBody } from './inference/chat.ts'
import { CHAT_KEPT_FORM } from './inference/chat-members.ts'
import { INFERENCE_BODY_BYTES_MAX, INFERENCE_DEPTH_MAX } from './inference/inference-limits.ts'
import { CountTokensBody, MessagesBody } from './inference/messages.ts'
import { ResponsesBody } from './inference/responses.ts'
import { RESPONSES_KEPT_FORM } from './inference/responses-members.ts'
import type { Dialect } from './inference/text-request.ts'
import type { KeptForm } from './kept-body.ts'
import { EmbeddingsBody, type InputKind } from './embeddings/embeddings.ts'
import { CreateMappingBody, UpdateMappingBody } from './scim/group-mappings.ts'
import { CreateInternBody, UpdateInternBody } from './workspaces/interns.ts'
import { CreateKeyBody, RotateKeyBody, UpdateKeyBody } from './keys/keys.ts'
import { EMBEDDINGS_BODY_BYTES_MAX } from './embeddings/embedding-limits.ts'
import { INTERN_BODY_BYTES_MAX } from './workspaces/workspace-limits.ts'
import { JSON_BODY_BYTES_MAX } from './limits/limits.ts'
import { VAULT_BODY_BYTES_MAX } from './vault/vault-limits.ts'
import { PresetChatBody } from './presets/preset-chat.ts'
import { MESSAGES_KEPT, PresetMessagesBody } from './presets/preset-messages.ts'
import { PresetResponsesBody } from './presets/preset-responses.ts'
import { DesignateBody } from './presets/preset-changes.ts'
import {
  CreateEndpointBody,
  SetEndpointPricingBody,
  UpdateEndpointBody,
  ValidateEndpointBody,
} from './endpoints/private-endpoints.ts'
import { ScimGroupBody, ScimPatchBody, ScimSearchBody, ScimUserBody } from './scim/scim-resources.ts'
import { CopySecretsBody, SecretBody } from './vault/vault.ts'
import { VideoBody } from './videos/videos.ts'
import { TestWebhookBody } from './webhooks/operator-webhooks.ts'
import { CreateProviderKeyBody, UpdateProviderKeyBody } from './workspaces/byok.ts'
import { AddMembersBody, RemoveMembersBody } from './workspaces/members.ts'
import { CreateWorkspaceBody, UpdateWorkspaceBody } from './workspaces/workspaces.ts'
import { FILE_OBJECTS } from './inference/file-references.ts'
import { DECIDED, OURS_NAMES } from './inference/text-members.ts'

/** Bytes of the body of a request about a user, which is read on the loop. Decision. */
export const SCIM_USER_BODY_BYTES_MAX = 256 * 1024

/** How the JSON body of an operation is received and checked, on the loop and in a short job alike. */
export interface BodyForm {
  readonly schema: TSchema
  readonly bytesMax: number
  /**
   * The only member that may be large. A body that is too large for the loop is checked in a short job, and
   * this member is returned as bytes (`BulkBytes`), since cloning the parsed value would block as long as
   * parsing it. A body without such a member is returned as a whole: its `bytesMax` is a few MiB, and cloning
   * a few long texts is fast.
   */
  readonly bulk?: string
  /** Members that the shape does not name are kept for the operation; `bytesMax` is INLINE_JSON_BYTES_MAX at most. */
  readonly keepsOthers?: true
  /** The body contains secrets: its bytes are overwritten after reading. */
  readonly isSecret?: true
  /** The thread that checks the body also makes the input from it: see `DIGESTS`. Excludes `bulk`. */
  readonly isDigested?: true
  /**
   * The operation gets the bytes of the body with its digest, as the member `source` (`KeptBody`), to send
   * them to a provider. Members that the shape does not name are never parsed.
   */
  readonly keeps?: KeptForm
  /** Nesting levels; JSON_DEPTH_MAX when omitted. */
  readonly depthMax?: number
}

/** The members of a Messages body whose places are kept: those that Sluice removes, sets or adds. */
const MESSAGES_KEPT_FORM: KeptForm = {
  names: [
    ...new Set([
      ...Object.keys(MessagesBody.properties),
      ...Object.keys(MESSAGES_KEPT.properties),
      ...OURS_NAMES,
    ]),
  ],
  objects: FILE_OBJECTS,
  marks: { system: DECIDED, messages: DECIDED, tools: DECIDED },
}

/** The same for a call that counts the tokens of a prompt. */
const COUNT_KEPT_FORM: KeptForm = {
  names: [...new Set([...Object.keys(CountTokensBody.properties), ...OURS_NAMES])],
  objects: FILE_OBJECTS,
  marks: {},
}

/** The forms of all JSON bodies by name, for operations and worker threads. */
export const BODIES = {
  embeddings: { schema: EmbeddingsBody, bytesMax: EMBEDDINGS_BODY_BYTES_MAX, bulk: 'input' },
  chat: {
    schema: ChatBody,
    bytesMax: INFERENCE_BODY_BYTES_MAX,
    depthMax: INFERENCE_DEPTH_MAX,
    isDigested: true,
    keeps: CHAT_KEPT_FORM,
  },
  messages: {
    schema: MessagesBody,
    bytesMax: INFERENCE_BODY_BYTES_MAX,
    depthMax: INFERENCE_DEPTH_MAX,
    isDigested: true,
    keeps: MESSAGES_KEPT_FORM,
  },
  count_tokens: {
    schema: CountTokensBody,
    bytesMax: INFERENCE_BODY_BYTES_MAX,
    depthMax: INFERENCE_DEPTH_MAX,
    isDigested: true,
    keeps: COUNT_KEPT_FORM,
  },
  responses: {
    schema: ResponsesBody,
    bytesMax: INFERENCE_BODY_BYTES_MAX,
    depthMax: INFERENCE_DEPTH_MAX,
    isDigested: true,
    keeps: RESPONSES_KEPT_FORM,
  },
  intern_create: { schema: CreateInternBody, bytesMax: INTERN_BODY_BYTES_MAX },
  intern_update: { schema: UpdateInternBody, bytesMax: INTERN_BODY_BYTES_MAX },
  create_key: { schema: CreateKeyBody, bytesMax: JSON_BODY_BYTES_MAX },
  update_key: { schema: UpdateKeyBody, bytesMax: JSON_BODY_BYTES_MAX },
  rotate_key: { schema: RotateKeyBody, bytesMax: JSON_BODY_BYTES_MAX },
  secret: { schema: SecretBody, bytesMax: VAULT_BODY_BYTES_MAX, isSecret: true },
  secret_copy: { schema: CopySecretsBody, bytesMax: VAULT_BODY_BYTES_MAX },
  create_private_endpoint: { schema: CreateEndpointBody, bytesMax: JSON_BODY_BYTES_MAX },
  update_private_endpoint: { schema: UpdateEndpointBody, bytesMax: JSON_BODY_BYTES_MAX },
  validate_private_endpoint: { schema: ValidateEndpointBody, bytesMax: JSON_BODY_BYTES_MAX },
  caps: { schema: CapsBody, bytesMax: JSON_BODY_BYTES_MAX },
  credit: { schema: CreditBody, bytesMax: JSON_BODY_BYTES_MAX },
  budget: { schema: BudgetBody, bytesMax: JSON_BODY_BYTES_MAX },
  preset_designate: { schema: DesignateBody, bytesMax: JSON_BODY_BYTES_MAX },
  video: { schema: VideoBody, bytesMax: JSON_BODY_BYTES_MAX },
  workspace_create: { schema: CreateWorkspaceBody, bytesMax: JSON_BODY_BYTES_MAX },
  workspace_update: { schema: UpdateWorkspaceBody, bytesMax: JSON_BODY_BYTES_MAX },
  byok_create: { schema: CreateProviderKeyBody, bytesMax: VAULT_BODY_BYTES_MAX, isSecret: true },
  byok_update: { schema: UpdateProviderKeyBody, bytesMax: VAULT_BODY_BYTES_MAX, isSecret: true },
  members_add: { schema: AddMembersBody, bytesMax: JSON_BODY_BYTES_MAX },
  members_remove: { schema: RemoveMembersBody, bytesMax: JSON_BODY_BYTES_MAX },
  preset_responses: {
    schema: PresetResponsesBody,
    bytesMax: JSON_BODY_BYTES_MAX,
    isDigested: true,
  },
  preset_chat: {
    schema: PresetChatBody,
    bytesMax: JSON_BODY_BYTES_MAX,
    isDigested: true,
  },
  preset_messages: {
    schema: PresetMessagesBody,
    bytesMax: JSON_BODY_BYTES_MAX,
    isDigested: true,
  },
  create_mapping: { schema: CreateMappingBody, bytesMax: JSON_BODY_BYTES_MAX },
  update_mapping: { schema: UpdateMappingBody, bytesMax: JSON_BODY_BYTES_MAX },
  scim_user: { schema: ScimUserBody, bytesMax: SCIM_USER_BODY_BYTES_MAX, keepsOthers: true },
  scim_user_patch: { schema: ScimPatchBody, bytesMax: SCIM_USER_BODY_BYTES_MAX, keepsOthers: true },
  scim_group: { schema: ScimGroupBody, bytesMax: JSON_BODY_BYTES_MAX },
  scim_group_patch: { schema: ScimPatchBody, bytesMax: JSON_BODY_BYTES_MAX },
  scim_search: { schema: ScimSearchBody, bytesMax: SCIM_USER_BODY_BYTES_MAX, keepsOthers: true },
  replay_dead: { schema: ReplayDeadBody, bytesMax: JSON_BODY_BYTES_MAX },
  test_webhook: { schema: TestWebhookBody, bytesMax: JSON_BODY_BYTES_MAX },
  set_private_endpoint_pricing: { schema: SetEndpointPricingBody, bytesMax: JSON_BODY_BYTES_MAX },
} as const satisfies Record<string, BodyForm>
export type BodyName = keyof typeof BODIES

/** Names of the bodies of calls to text models; a dialect's body has the name of the dialect. */
export type TextBodyName = Dialect | 'count_tokens'

export function keptFormOf(name: TextBodyName): KeptForm {
  return BODIES[name].keeps
}

/** Facts about a large member, without its value. */
export interface BulkFacts {
  readonly kind: InputKind
  readonly count: number
  /** Left out: none. */
  readonly pictures?: number
}

/** A large member kept as UTF-8 JSON; its value has passed the schema. */
export class BulkBytes {
  readonly json: Uint8Array
  readonly kind: InputKind
  /** Elements of the array; 1 for a string. */
  readonly count: number
  /** Pictures in its parts. */
  readonly pictures: number

  constructor(json: Uint8Array, { kind, count, pictures = 0 }: BulkFacts) {
    this.json = json
    this.kind = kind
    this.count = count
    this.pictures = pictures
  }
}
