import type { TagName } from '../../../operations/tags.ts'
import { CALL_TEXTS, EMBEDDING_TEXTS, VIDEO_TEXTS } from './call-texts.ts'
import { INFERENCE_TEXTS, PRESET_TEXTS } from './inference-texts.ts'
import * as managing from './managing-texts.ts'
import { MODEL_TEXTS } from './model-texts.ts'
import { ADMIN_TEXTS, AUDIT_TEXTS, MAPPING_TEXTS, SCIM_TEXTS } from './operating-texts.ts'

/**
 * Descriptions of the members of one subject. A key is the name of a member, or `parent.name` where only that
 * one is meant; before it may stand `body:` or `answer:`, or the id of an operation, as in `keys.get:name`.
 */
export type Texts = Readonly<Record<string, string>>

/** Where a member stands: a text belongs to it there, not to its name everywhere. */
export interface Place {
  readonly subject: TagName | 'error' | 'webhook'
  /** Id of the operation; the name of a webhook or an error. */
  readonly operation: string
  readonly side: 'body' | 'answer'
}

/** Members that mean the same in each subject. */
export const COMMON_TEXTS: Texts = {
  data: 'The result.',
  deleted: 'Always true: the object is deleted.',
  has_more: 'True when another page follows.',
  total_count: 'Number of objects that match, on all pages.',
  first_id: 'Id of the first entry on this page; null when the page is empty.',
  last_id: 'Id of the last entry on this page, for `after`; null when the page is empty.',
  request_id: 'Id of the request, as in the header `x-request-id`.',
  organization_id: 'Id of the organization that owns the object.',
}

export const ERROR_TEXTS: Texts = {
  error: 'The error.',
  'error.message': 'The problem, with the allowed values or the fix.',
  'error.metadata': 'Machine-readable facts about the error.',
  type: 'Always `error`.',
  issues: 'The invalid inputs.',
  'issues.path': 'JSON Pointer to the invalid field.',
  'issues.message': 'Problem with the input.',
  'issues.expected': 'Allowed values.',
  sluice_metadata: 'Reserved for future use: null, or an object.',
}

export const WEBHOOK_TEXTS: Texts = {
  id: 'Id of the video job.',
  type: 'Type of the event.',
  created_at: 'When the event was created.',
  'data.created_at': 'When the job was submitted.',
  data: 'The job.',
  status: 'Final state of the job.',
  model: 'Id of the model.',
  generation_id: 'Id of the usage record of the job, for `GET /generation`.',
  error: 'Reason why the job failed; null if it did not fail.',
  usage: 'Cost of the job.',
  unsigned_urls: 'URLs of the clips; downloading a clip requires an API key.',
}

/** The texts of each subject, the most special ones first. */
export const SUBJECT_TEXTS: Readonly<Record<Place['subject'], readonly Texts[]>> = {
  inference: [INFERENCE_TEXTS, CALL_TEXTS],
  presets: [PRESET_TEXTS, INFERENCE_TEXTS, CALL_TEXTS],
  embeddings: [EMBEDDING_TEXTS, CALL_TEXTS],
  videos: [VIDEO_TEXTS, CALL_TEXTS],
  models: [MODEL_TEXTS],
  files: [managing.FILE_TEXTS],
  containers: [managing.FILE_TEXTS],
  keys: [managing.KEY_TEXTS],
  workspaces: [managing.WORKSPACE_TEXTS],
  interns: [managing.INTERN_TEXTS],
  vault: [managing.VAULT_TEXTS],
  byok: [],
  'private-endpoints': [managing.ENDPOINT_TEXTS],
  budgets: [managing.BUDGET_TEXTS],
  credits: [managing.CREDIT_TEXTS],
  activity: [managing.ACTIVITY_TEXTS],
  audit: [AUDIT_TEXTS],
  admin: [ADMIN_TEXTS],
  'group-mappings': [MAPPING_TEXTS],
  scim: [SCIM_TEXTS],
  egress: [],
  error: [ERROR_TEXTS],
  webhook: [WEBHOOK_TEXTS],
}

/** Operations of tests may have other subjects. */
const TABLES: Readonly<Record<string, readonly Texts[]>> = SUBJECT_TEXTS

export interface FoundText {
  readonly table: Texts
  readonly key: string
  readonly text: string
}

/**
 * The description of a member where it stands; undefined when no table has one.
 * @param owner name of the member that has this one; empty at the top
 */
export function memberText(name: string, owner: string, place: Place): FoundText | undefined {
  const keys = [`${owner}.${name}`, name].flatMap((key) => [
    `${place.operation}:${key}`,
    `${place.side}:${key}`,
    key,
  ])
  for (const table of [...(TABLES[place.subject] ?? []), COMMON_TEXTS])
    for (const key of keys) {
      const text = table[key]
      if (text !== undefined) return { table, key, text }
    }
  return undefined
}
