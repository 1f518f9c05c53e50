import Type, { type Static, type TSchema } from 'typebox'
import {
  HOST_CHARS_MAX,
  SECRET_HOSTS_MAX,
  SECRET_NAME_CHARS_MAX,
  SECRET_VALUE_CHARS_MAX,
  SECRETS_COPIED_MAX,
  SECRETS_OFFSET_MAX,
  SECRETS_PAGE_MAX,
} from './vault-limits.ts'

/** Lower-case letters, digits and single underscores; begins with a letter and does not end with an underscore. §4.4. */
export const SECRET_NAME_PATTERN = '^(?!.*__)[a-z]([a-z0-9_]*[a-z0-9])?$'
const SECRET_NAME = new RegExp(SECRET_NAME_PATTERN)

/** The expected form of a name, in words. */
export const SECRET_NAME_RULES =
  `1 to ${SECRET_NAME_CHARS_MAX} lower-case letters, digits and single underscores, ` +
  'beginning with a letter and ending with a letter or digit'

export function isSecretName(text: string): boolean {
  return text.length <= SECRET_NAME_CHARS_MAX && SECRET_NAME.test(text)
}

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

const SecretName = Type.String({
  maxLength: SECRET_NAME_CHARS_MAX,
  pattern: SECRET_NAME_PATTERN,
  title: SECRET_NAME_RULES,
})
const InternId = Type.String({ description: "Id of an intern in the key's workspace." })

export const SecretParams = Type.Object({ name: SecretName })
export const InternParams = Type.Object({ intern_id: InternId })
export const InternSecretParams = Type.Object({ intern_id: InternId, name: SecretName })

export const SecretBody = Type.Object(
  {
    hosts: Type.Array(Type.String({ minLength: 1, maxLength: HOST_CHARS_MAX }), {
      minItems: 1,
      maxItems: SECRET_HOSTS_MAX,
      description:
        'Exact ASCII DNS names that may receive the value; no scheme, port, path, wildcard or IP address.',
    }),
    value: Type.String({
      minLength: 1,
      maxLength: SECRET_VALUE_CHARS_MAX,
      writeOnly: true,
      description:
        'The secret value, which is write-only. The length of the value is counted in Unicode code points.',
    }),
  },
  { additionalProperties: false },
)
export type SecretBody = Static<typeof SecretBody>

export const CopySecretsBody = Type.Object(
  {
    names: Type.Array(SecretName, {
      minItems: 1,
      maxItems: SECRETS_COPIED_MAX,
      description: 'Names of the workspace secrets to copy, without duplicates.',
    }),
  },
  { additionalProperties: false },
)
export type CopySecretsBody = Static<typeof CopySecretsBody>

export const SecretPageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: SECRETS_PAGE_MAX, default: SECRETS_PAGE_MAX })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: SECRETS_OFFSET_MAX, default: 0 })),
})
export type SecretPageQuery = Static<typeof SecretPageQuery>

export const WorkspaceSecretsQuery = Type.Object({
  workspace_id: Type.Optional(
    Type.String({ minLength: 1, description: 'UUID or slug of the workspace; defaults to `default`.' }),
  ),
  ...SecretPageQuery.properties,
})

const SECRET = {
  name: Type.String(),
  hosts: nullable(
    Type.Array(Type.String(), {
      description:
        'Hosts that may receive the value, normalized and sorted; null only for secrets stored by early versions, which are never released.',
    }),
  ),
  fingerprint: nullable(
    Type.String({
      description:
        "`sha256:` and an HMAC of the value with the vault's key. Equal fingerprints in one vault mean equal values. " +
        'The fingerprint is null only for secrets stored by early versions.',
    }),
  ),
  created_at: Type.String({
    format: 'date-time',
    description: 'When the secret was first stored; replacing the secret keeps this time.',
  }),
}

/** The only fields of a secret that replies show. §2.6. */
const SecretShape = Type.Object(SECRET)
const EffectiveShape = Type.Object({
  ...SECRET,
  scope: Type.Union([Type.Literal('intern'), Type.Literal('attached'), Type.Literal('workspace')], {
    description: 'Where the secret comes from.',
  }),
})
export const SecretAnswer = Type.Object({ data: SecretShape })
export const SecretsAnswer = Type.Object({ data: Type.Array(SecretShape) })
export const SecretPageAnswer = Type.Object({ data: Type.Array(SecretShape), has_more: Type.Boolean() })
export const EffectivePageAnswer = Type.Object({ data: Type.Array(EffectiveShape), has_more: Type.Boolean() })

/** The fields of a secret that replies show; a row of the store contains them. */
export interface ShownSecret {
  readonly name: string
  readonly hosts: readonly string[] | null
  readonly fingerprint: string | null
  readonly createdAt: Date
}

export function secretAnswer({
  name,
  hosts,
  fingerprint,
  createdAt,
}: ShownSecret): Static<typeof SecretShape> {
  return { name, hosts: hosts === null ? null : [...hosts], fingerprint, created_at: createdAt.toISOString() }
}
