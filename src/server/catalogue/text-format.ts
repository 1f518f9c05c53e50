import Type from 'typebox'
import { PROVIDER_TIMEOUT_MS_MAX } from '../../schemas/models/provider-limits.ts'
import { TIER_CHARS_MAX, ACCOUNT_TIERS } from '../../schemas/models/price-conditions.ts'
import { LEAVE_KINDS, REASONING_FIELDS, TEXT_PROTOCOLS } from '../../schemas/models/text-models.ts'

const milliseconds = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: PROVIDER_TIMEOUT_MS_MAX,
    description: `whole milliseconds, 1 to ${PROVIDER_TIMEOUT_MS_MAX}`,
  }),
)

/** What an endpoint speaks; an empty list takes it out of all calls of models that write. D5. */
export const Speaks = Type.Optional(
  Type.Array(Type.Enum(TEXT_PROTOCOLS, { description: `one of ${TEXT_PROTOCOLS.join(', ')}` }), {
    uniqueItems: true,
    description: `a list of ${TEXT_PROTOCOLS.join(', ')}, each once`,
  }),
)

/** Where the endpoint takes reasoning of earlier turns. */
export const ReasoningFieldEntry = Type.Optional(
  Type.Enum(REASONING_FIELDS, { description: `one of ${REASONING_FIELDS.join(', ')}` }),
)

/** Members of a provider that concern models that write. */
export const TextMembers = {
  speaks: Speaks,
  /** The provider refuses members that it does not know. D4. */
  strict: Type.Optional(Type.Boolean({ description: 'true or false' })),
  /** What happens to the stream of a caller who has left. D27. */
  on_leave: Type.Optional(Type.Enum(LEAVE_KINDS, { description: `one of ${LEAVE_KINDS.join(', ')}` })),
  first_output_ms: milliseconds,
  stall_ms: milliseconds,
  /** What the account is set to where a call asks for no tier. F9. */
  account_tier: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: TIER_CHARS_MAX,
      description: `one of ${ACCOUNT_TIERS.join(', ')}, or a tier of a modifier`,
    }),
  ),
}
