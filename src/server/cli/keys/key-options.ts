import { InvalidArgumentError } from 'commander'
import { INSTANT_RULES, instantOf } from '../../../schemas/values/instants.ts'
import {
  ALLOWED_MODEL_RULES,
  CreateKeyBody,
  RotateKeyBody,
  UpdateKeyBody,
} from '../../../schemas/keys/keys.ts'
import { modelsRemark, RESERVED_SCOPE_TEXT } from '../../../schemas/keys/permissions.ts'
import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import { catalogueChoice } from '../parts/load-models.ts'
import { nameOf } from '../parts/database.ts'
import { CALL_LIMITS, NONE, optionsOf } from '../parts/shape-options.ts'
import { loadGeneration } from '../parts/verb.ts'

const NAME = { flags: '--name <name>', about: 'name of the key', parse: nameOf }

const LIMITS = {
  limit: '--limit <usd>',
  limit_reset: '--limit-reset <interval>',
  include_byok_in_limit: '--byok <on|off>',
  rate_limit_rpm: '--rpm <count>',
  rate_limit_burst: '--burst <count>',
  ...CALL_LIMITS,
  scopes: {
    flags: '--scopes <scope...>',
    about: `scopes of the key; ${NONE}: all scopes; ${RESERVED_SCOPE_TEXT}`,
  },
  allowed_models: {
    flags: '--allow-model <model...>',
    about: `models the key may use, each as ${ALLOWED_MODEL_RULES}; ${NONE}: all models`,
  },
} as const

export const CREATE = optionsOf(CreateKeyBody, {
  name: NAME,
  kind: { flags: '--kind <kind>', about: 'kind of key', isRequired: true },
  workspace_id: '--workspace <ref>',
  intern_id: { flags: '--intern <ref>', about: 'name or id of the intern, for intern keys' },
  expires_at: {
    flags: '--expires <instant>',
    about: 'expiry (ISO 8601 with an offset); default: never',
    parse: futureOf,
  },
  creator_user_id: {
    flags: '--creator <id>',
    about: 'id of the user who creates the key',
    takesNone: false,
  },
  ...LIMITS,
})

export const UPDATE = optionsOf(UpdateKeyBody, { name: NAME, ...LIMITS })

export const ROTATE = optionsOf(RotateKeyBody, {
  overlap_seconds: '--overlap <seconds>',
  expires_at: {
    flags: '--expires <instant>',
    about: 'expiry of the new key (ISO 8601 with an offset); default: the expiry of the old key',
    parse: futureOf,
  },
})

/** Parses an instant in the future. */
export function expiryOf(text: string): Date {
  const instant = instantOf(text)
  if (instant === null) throw new InvalidArgumentError(`Expected ${INSTANT_RULES}.`)
  if (instant.getTime() <= Date.now()) throw new InvalidArgumentError('The expiry is in the past.')
  return instant
}

function futureOf(text: string): string {
  return expiryOf(text).toISOString()
}

/**
 * Warns of models in a key's allow list that the catalogue lacks. The key already exists, so a faulty
 * catalogue does not make the command fail.
 */
export function warnOfModels(allowed: readonly string[] | null | undefined): void {
  if (allowed === null || allowed === undefined) return
  const { file: extraFile } = catalogueChoice(loadGeneration().config)
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (!loaded.ok) return
  const remark = modelsRemark(
    allowed,
    loaded.catalogue.models.map(({ id }) => id),
  )
  if (remark !== null) process.stderr.write(`warning: ${remark}\n`)
}
