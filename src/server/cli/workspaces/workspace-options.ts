import { CreateWorkspaceBody, UpdateWorkspaceBody } from '../../../schemas/workspaces/workspaces.ts'
import { nameOf } from '../parts/database.ts'
import { CALL_LIMITS, NONE, optionsOf } from '../parts/shape-options.ts'

const SWITCHES = { programme: '--programme <on|off>', vault_writes: '--vault-writes <on|off>' } as const

const SETTINGS = {
  name: { flags: '--name <name>', about: 'name of the workspace', parse: nameOf },
  ...CALL_LIMITS,
  description: { flags: '--description <text>', about: 'description of the workspace', takesNone: false },
  default_callback_url: {
    flags: '--callback-url <url>',
    about: `default URL for webhooks: HTTPS, at a public address; ${NONE} removes it`,
  },
  storage_quota_bytes: '--storage-quota <bytes>',
  ...SWITCHES,
  include_byok_in_budgets: '--byok-in-budgets <on|off>',
} as const

export const CREATE = optionsOf(CreateWorkspaceBody, {
  slug: {
    flags: '--slug <slug>',
    about: 'slug of lower-case letters, digits and single hyphens; unique in the organization',
  },
  ...SETTINGS,
})

export const UPDATE = optionsOf(UpdateWorkspaceBody, {
  slug: { flags: '--slug <slug>', about: 'new slug; the old slug becomes free at once' },
  ...SETTINGS,
})

export const SET = optionsOf(UpdateWorkspaceBody, SWITCHES)
