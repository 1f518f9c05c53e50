import Type, { type Static } from 'typebox'

/**
 * The objects whose number an organization's caps limit; `vaults` are attachable vaults, and `secrets` the
 * secrets in all of these.
 */
export const CAPPED = ['workspaces', 'api_keys', 'interns', 'vaults', 'secrets'] as const
export type Capped = (typeof CAPPED)[number]
export type Caps = Readonly<Record<Capped, number>>

export const CAPS_DEFAULT: Caps = Object.freeze({
  workspaces: 100,
  api_keys: 10_000,
  interns: 10_000,
  vaults: 1_000,
  secrets: 100_000,
})
/** Largest cap: above it, counting would exceed the deadline of a call. Decision. */
export const CAP_MAX = 10_000_000

/** The names of these objects in messages. */
export const CAPPED_TEXTS: Readonly<Record<Capped, string>> = {
  workspaces: 'workspaces',
  api_keys: 'API keys',
  interns: 'interns',
  vaults: 'attachable vaults',
  secrets: 'secrets in attachable vaults',
}

function capOf(capped: Capped) {
  return Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: CAP_MAX }), Type.Null()], {
      description: `Maximum number of ${CAPPED_TEXTS[capped]} in the organization; null for the installation's default.`,
    }),
  )
}
export const OrganizationId = Type.String({
  format: 'uuid',
  description:
    "Id of another organization, which only the operator's keys may name; defaults to the organization of the key.",
})
/** Query of every call about an organization; a call's body may also name the organization. */
export const OrganizationQuery = Type.Object({ organization_id: Type.Optional(OrganizationId) })
export type OrganizationQuery = Static<typeof OrganizationQuery>
/** Body of PATCH /caps. Omitted members keep their value. */
export const CapsBody = Type.Object({
  organization_id: Type.Optional(OrganizationId),
  workspaces: capOf('workspaces'),
  api_keys: capOf('api_keys'),
  interns: capOf('interns'),
  vaults: capOf('vaults'),
  secrets: capOf('secrets'),
})
export type CapsBody = Static<typeof CapsBody>

const State = Type.Object({
  cap: Type.Integer(),
  used: Type.Integer(),
  is_own: Type.Boolean({ description: "False when the installation's maximum applies." }),
})
export const CapsAnswer = Type.Object({
  data: Type.Object({
    organization_id: Type.String(),
    workspaces: State,
    api_keys: State,
    interns: State,
    vaults: State,
    secrets: State,
  }),
})
