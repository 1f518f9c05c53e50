import Type, { type Static, type TSchema } from 'typebox'
import { INSTANT_RULES } from '../values/instants.ts'
import { ALLOWED_MODELS_MAX, KEY_OVERLAP_S_DEFAULT, KEY_OVERLAP_S_MAX } from './key-limits.ts'
import { NAME_CHARS_MAX } from '../workspaces/workspace-limits.ts'
import { CALL_LIMIT_FIELDS, CallLimits } from '../limits/model-calls.ts'
import { RATE_LIMIT_RPM_MAX } from '../limits/rate-limits.ts'
import { USD_MAX } from '../money/money-limits.ts'
import { HasMore } from '../lists/pages.ts'
import { KEY_SCOPES, RESERVED_SCOPE_TEXT } from './permissions.ts'

/** Keys that a request for a page may skip. Decision. */
export const KEYS_OFFSET_MAX = 1_000_000
/** Characters of each model or author of a key's allow list. Decision. */
export const ALLOWED_MODEL_CHARS_MAX = 256
/** Characters of the caller's id for the user of a key. Decision. */
export const KEY_USER_CHARS_MAX = 256

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

/** Intervals after which a key's limit resets; without one the limit holds for the key's lifetime. */
export const LIMIT_RESETS = ['daily', 'weekly', 'monthly'] as const
export type LimitReset = (typeof LIMIT_RESETS)[number]

const ALLOWED_MODEL = /^[\w.-]+\/(?:\*|[\w.-]+)$/
export const ALLOWED_MODEL_RULES = '`author/slug`, or `author/*` for all models of an author'

/** The store's texts may contain any character but U+0000. */
const Name = Type.String({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000]*$',
  title: `a string of 1 to ${NAME_CHARS_MAX} characters that is not blank`,
})
const UserId = Type.String({
  minLength: 1,
  maxLength: KEY_USER_CHARS_MAX,
  pattern: '^[^\\u0000]*$',
  title: `a string of 1 to ${KEY_USER_CHARS_MAX} characters`,
})
const Limit = nullable(
  Type.Number({
    minimum: 0,
    maximum: USD_MAX,
    title: `an amount from 0 to ${USD_MAX} USD`,
    description:
      'Spending limit in USD, rounded to the nearest nano-USD; null for no limit. With a limit of 0, every paid call is refused.',
  }),
)
const ResetOf = nullable(
  Type.Enum([...LIMIT_RESETS], {
    description:
      'When the limit resets (at 00:00 UTC): every day, every Monday, or on the 1st of every month. Null applies the limit to the lifetime of the key.',
  }),
)
const Byok = Type.Boolean({
  description: "Whether calls with the workspace's own provider keys count against the limit.",
})
const Rate = nullable(
  Type.Integer({
    minimum: 1,
    maximum: RATE_LIMIT_RPM_MAX,
    description: 'Sluice extension: requests per minute; null for no limit.',
  }),
)
const Burst = nullable(
  Type.Integer({
    minimum: 1,
    maximum: RATE_LIMIT_RPM_MAX,
    description:
      "Sluice extension: requests that may arrive at once, from 1 to `rate_limit_rpm`; null uses the operator's " +
      'default or, without one, a tenth of the limit (at least 10, at most the limit). Lowering `rate_limit_rpm` lowers the burst too.',
  }),
)
const AllowedModels = nullable(
  Type.Array(
    Type.String({
      pattern: ALLOWED_MODEL.source,
      maxLength: ALLOWED_MODEL_CHARS_MAX,
      title: ALLOWED_MODEL_RULES,
    }),
    {
      maxItems: ALLOWED_MODELS_MAX,
      description: `Sluice extension: models that the key may call, each as ${ALLOWED_MODEL_RULES}. Null allows all models, an empty list allows none.`,
    },
  ),
)
const Scopes = nullable(
  Type.Array(Type.Enum([...KEY_SCOPES]), {
    uniqueItems: true,
    maxItems: KEY_SCOPES.length,
    description:
      'Sluice extension: scopes of an inference or intern key; null allows everything, an empty list only operations ' +
      `that need no scope. ${RESERVED_SCOPE_TEXT}.`,
  }),
)
const ExpiresAt = nullable(
  Type.String({
    title: `${INSTANT_RULES}, or null`,
    description: `Expiry of the key: ${INSTANT_RULES}, in the future; null if the key never expires.`,
  }),
)

/** Body of POST /keys. Other members are ignored. */
export const CreateKeyBody = Type.Object({
  name: Name,
  kind: Type.Optional(
    Type.Enum(['inference', 'management', 'intern'], {
      description:
        'Sluice extension: kind of the key. Defaults to `inference`, or to `intern` with an `intern_id`.',
    }),
  ),
  intern_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "Sluice extension: creates a key for this intern. The key acts in the intern's workspace and is deleted with the intern.",
    }),
  ),
  disabled: Type.Optional(
    Type.Boolean({
      description: 'Sluice extension: `true` creates a key whose calls are refused until the key is enabled.',
    }),
  ),
  limit: Type.Optional(Limit),
  limit_reset: Type.Optional(ResetOf),
  include_byok_in_limit: Type.Optional(Byok),
  expires_at: Type.Optional(ExpiresAt),
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'UUID or slug of the workspace of an inference key; defaults to `default`. Management keys belong to the organization, not to a workspace.',
    }),
  ),
  creator_user_id: Type.Optional(nullable(UserId)),
  external: Type.Optional(
    Type.Object({
      user: UserId,
      api_key: Type.Optional(Type.String({ description: 'Accepted for compatibility, but not stored.' })),
    }),
  ),
  rate_limit_rpm: Type.Optional(Rate),
  rate_limit_burst: Type.Optional(Burst),
  ...CALL_LIMIT_FIELDS,
  allowed_models: Type.Optional(AllowedModels),
  scopes: Type.Optional(Scopes),
})
export type CreateKeyBody = Static<typeof CreateKeyBody>

/** Body of PATCH /keys/{hash}. Omitted members keep their value. */
export const UpdateKeyBody = Type.Object({
  name: Type.Optional(Name),
  disabled: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Limit),
  limit_reset: Type.Optional(ResetOf),
  include_byok_in_limit: Type.Optional(Byok),
  rate_limit_rpm: Type.Optional(Rate),
  rate_limit_burst: Type.Optional(Burst),
  ...CALL_LIMIT_FIELDS,
  allowed_models: Type.Optional(AllowedModels),
  scopes: Type.Optional(Scopes),
  intern_id: Type.Optional(
    Type.String({
      description:
        'Sluice extension: the intern of a key cannot be changed; only the current value is accepted.',
    }),
  ),
})
export type UpdateKeyBody = Static<typeof UpdateKeyBody>

/** Body of POST /keys/{hash}/rotate: Sluice's extension. */
export const RotateKeyBody = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: KEY_OVERLAP_S_MAX,
      default: KEY_OVERLAP_S_DEFAULT,
      description: 'Seconds during which the old and the new key both work.',
    }),
  ),
  expires_at: Type.Optional(
    nullable(
      Type.String({
        title: `${INSTANT_RULES}, or null`,
        description: `Expiry of the new key: ${INSTANT_RULES}, in the future; null for no expiry. If absent, the new key keeps the old expiry.`,
      }),
    ),
  ),
})
export type RotateKeyBody = Static<typeof RotateKeyBody>

export const KeyParams = Type.Object({
  hash: Type.String({ description: 'Lower-case hex SHA-256 of the key, as in lists.' }),
})

export const ListKeysQuery = Type.Object({
  include_disabled: Type.Optional(Type.Boolean({ default: false })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: KEYS_OFFSET_MAX, default: 0 })),
  workspace_id: Type.Optional(
    Type.String({ minLength: 1, description: 'UUID or slug of a workspace; returns only its keys.' }),
  ),
})

const Usd = Type.Number({ description: 'USD.' })
const Instant = Type.String({ format: 'date-time' })

/** Usage of a key in USD; an amount with its own window resets at the end of the window. */
const USAGE = {
  usage: Usd,
  usage_daily: Usd,
  usage_weekly: Usd,
  usage_monthly: Usd,
  byok_usage: Usd,
  byok_usage_daily: Usd,
  byok_usage_weekly: Usd,
  byok_usage_monthly: Usd,
}
const LIMITS = {
  limit: nullable(Usd),
  limit_remaining: nullable(
    Type.Number({
      description:
        'Remaining amount of the limit in USD, at least 0. The cost of calls in progress is not subtracted.',
    }),
  ),
  limit_reset: nullable(Type.Enum([...LIMIT_RESETS])),
  include_byok_in_limit: Type.Boolean(),
}

/** B2.10, with Sluice's extensions at its end. */
export const ApiKey = Type.Object({
  hash: Type.String(),
  name: Type.String(),
  label: Type.String({ description: 'First and last characters of the key, to identify it.' }),
  workspace_id: Type.String({
    description:
      'Workspace of the key; for a management key, the workspace `default`, which calls use if they do not name a workspace.',
  }),
  disabled: Type.Boolean(),
  ...LIMITS,
  ...USAGE,
  creator_user_id: nullable(Type.String()),
  external_user: nullable(Type.String()),
  created_at: Instant,
  updated_at: nullable(Instant),
  expires_at: Type.Optional(Instant),
  kind: Type.Enum(['inference', 'management', 'intern']),
  rate_limit_rpm: nullable(Type.Integer()),
  rate_limit_burst: nullable(Type.Integer()),
  ...CallLimits.properties,
  allowed_models: nullable(Type.Array(Type.String())),
  scopes: nullable(Type.Array(Type.Enum([...KEY_SCOPES]))),
  intern_id: nullable(Type.String({ description: 'Id of the intern, for an intern key.' })),
})
export type ApiKey = Static<typeof ApiKey>

export const KeyAnswer = Type.Object({ data: ApiKey })
export const KeyListAnswer = Type.Object({ data: Type.Array(ApiKey), has_more: HasMore })
export const NewKeyAnswer = Type.Object({
  data: ApiKey,
  key: Type.String({ description: 'The key. The key is shown only once.' }),
})
export const KeyDeletedAnswer = Type.Object({ deleted: Type.Literal(true) })
export const RotatedKeyAnswer = Type.Object({
  ...NewKeyAnswer.properties,
  previous: Type.Object({ hash: Type.String(), expires_at: Instant }),
})

export const CurrentKeyAnswer = Type.Object({
  data: Type.Object({
    label: Type.String(),
    ...LIMITS,
    ...USAGE,
    is_free_tier: Type.Boolean(),
    is_management_key: Type.Boolean(),
    is_provisioning_key: Type.Boolean({
      description: 'The same as `is_management_key`, under its older name.',
    }),
    workspace_id: nullable(Type.String()),
    organization_id: nullable(Type.String()),
    creator_user_id: nullable(Type.String()),
    allowed_data_regions: Type.Array(Type.String()),
    free_model_daily_requests: Type.Object({
      limit: Type.Integer(),
      used: Type.Integer(),
      remaining: Type.Integer(),
    }),
    rate_limit: Type.Object({ requests: Type.Integer(), interval: Type.String(), note: Type.String() }),
    expires_at: Type.Optional(Instant),
    hash: Type.String({ description: 'Sluice extension: lower-case hex SHA-256 of the key.' }),
    kind: ApiKey.properties.kind,
    rate_limit_burst: ApiKey.properties.rate_limit_burst,
    ...CallLimits.properties,
    allowed_models: ApiKey.properties.allowed_models,
    scopes: ApiKey.properties.scopes,
  }),
})
export type CurrentKeyAnswer = Static<typeof CurrentKeyAnswer>
