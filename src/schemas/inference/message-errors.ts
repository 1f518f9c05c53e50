import Type from 'typebox'
import { ErrorEnvelope } from '../envelope.ts'
import { FAILURES, type FailureName } from '../failures.ts'

/** Anthropic's error types by status. */
const NAMES = {
  authentication_error: ['credentials_missing'],
  billing_error: ['credit_exhausted'],
  permission_error: ['scope_missing'],
  not_found_error: ['model_unknown'],
  request_too_large: ['body_too_large'],
  rate_limit_error: ['rate_limited'],
  timeout_error: ['upstream_slow'],
  overloaded_error: ['busy', 'upstream_overloaded'],
} as const satisfies Readonly<Record<string, readonly FailureName[]>>

const TYPES: ReadonlyMap<number, string> = new Map(
  Object.entries(NAMES).flatMap(([type, names]) =>
    names.map((name) => [FAILURES[name].status[0], type] as const),
  ),
)
const OURS_FROM: number = FAILURES.internal.status[0]

export interface ErrorFields {
  readonly status: number
  readonly message: string
  readonly metadata: object
  readonly requestId: string
}

/** An error in Anthropic's form, with the members of the usual envelope. */
export function messageError({ status, message, metadata, requestId }: ErrorFields): object {
  const type = TYPES.get(status) ?? (status >= OURS_FROM ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message, code: status, metadata }, request_id: requestId }
}

/** The shape of `messageError`. */
export const MessageErrorEnvelope = Type.Object({
  type: Type.Literal('error'),
  error: Type.Object({
    ...ErrorEnvelope.properties.error.properties,
    type: Type.String({ description: "Error type in Anthropic's format." }),
  }),
  request_id: Type.String({ description: 'Id of the request, as in the header `request-id`.' }),
})
