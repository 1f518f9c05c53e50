import { FAILURES, statusOf, type FailureName } from '../../../schemas/failures.ts'
import { SCIM_CONTENT_TYPE } from '../../../schemas/scim/scim-errors.ts'
import { isRateLimited, type AnyOperation } from '../../operations/define.ts'
import { listedBy, statusLine } from '../reply/reply.ts'
import { ANTHROPIC_HEADERS, LIMIT_HEADERS } from './openapi-headers.ts'
import { reference, type Json } from './openapi-json.ts'
import { isRepeatable } from './openapi-parameters.ts'
import { scopesText } from '../../../schemas/keys/permissions.ts'

const UNAUTHORIZED: number = FAILURES.credentials_missing.status[0]
const RATE_LIMITED: number = FAILURES.rate_limited.status[0]
/** Statuses whose replies state when to retry. */
const RETRIED: readonly number[] = [
  FAILURES.rate_limited.status[0],
  FAILURES.busy.status[0],
  FAILURES.upstream_overloaded.status[0],
]

const UPLOAD_FAILURES: readonly FailureName[] = [
  'header_invalid',
  'file_too_large',
  'body_slow',
  'body_invalid',
]
const FORM_FAILURES: readonly FailureName[] = ['form_malformed', 'form_invalid', 'filename_invalid']

/** Failures of the pipeline's stages for any operation, in addition to the operation's own. */
const STAGE_FAILURES: readonly FailureName[] = [
  'credentials_missing',
  'key_unknown',
  'key_expired',
  'key_disabled',
  'wrong_key_kind',
  'internal',
]
const BODY_FAILURES: readonly FailureName[] = [
  'header_invalid',
  'content_type_unsupported',
  'body_malformed',
  'body_invalid',
  'body_too_large',
  'body_slow',
  'busy',
]

const IDEMPOTENCY_FAILURES: readonly FailureName[] = [
  'header_invalid',
  'idempotency_mismatch',
  'idempotency_running',
  'busy',
  'store_unavailable',
]

/** Every failure of an operation: its own, and those of the stages before it. */
export function failureNamesOf(operation: AnyOperation): ReadonlySet<FailureName> {
  const names = [
    ...STAGE_FAILURES,
    ...gatesOf(operation).map(({ failure }) => failure),
    ...operation.failures,
  ]
  if (operation.input.body !== undefined) names.push(...BODY_FAILURES)
  if (isRepeatable(operation)) names.push(...IDEMPOTENCY_FAILURES)
  if (operation.idempotent === 'refused') names.push('header_invalid')
  if (operation.success.content !== undefined) names.push('range_unsatisfiable')
  if (operation.input.upload === 'whole') names.push('body_slow', 'body_invalid')
  else if (operation.input.upload !== undefined) names.push(...UPLOAD_FAILURES)
  if (operation.input.upload === 'form') names.push(...FORM_FAILURES)
  if (operation.input.query !== undefined) names.push('query_invalid')
  if (operation.input.params !== undefined) names.push('params_invalid')
  if (isRateLimited(operation)) names.push('rate_limited')
  return new Set(names)
}

/** Every listed status, 401 for every operation, and 400 for operations with a query; each names its error types. */
export function failuresOf(operation: AnyOperation): Json {
  const names = [...failureNamesOf(operation)]
  const ofQuery = operation.input.query === undefined ? [] : FAILURES.query_invalid.status
  const statuses = [...new Set([...listedBy(operation), UNAUTHORIZED, ...ofQuery])].sort(
    (one, other) => one - other,
  )
  return Object.fromEntries(
    statuses.map((status) => {
      const types = names.filter((name) => statusOf(name, listedBy(operation)) === status)
      return [status, failureOf(status, types, operation)]
    }),
  )
}

function failureOf(status: number, types: readonly FailureName[], operation: AnyOperation): Json {
  const { success } = operation
  const phrase = statusLine(status).slice(4)
  return {
    description: types.length === 0 ? phrase : `${phrase}: ${types.map((type) => `\`${type}\``).join(', ')}`,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(operation.isAnthropic === true && ANTHROPIC_HEADERS),
      ...(success.isRelayed === true && { 'x-sluice-error': { $ref: '#/components/headers/Error' } }),
      ...(types.some((name) => FAILURES[name].retry !== 'backoff') && {
        'x-should-retry': { $ref: '#/components/headers/ShouldRetry' },
      }),
      ...(types.includes('range_unsatisfiable') && {
        'content-range': { $ref: '#/components/headers/ContentRange' },
      }),
      ...(status === RATE_LIMITED && LIMIT_HEADERS),
      ...(RETRIED.includes(status) && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: errorContent(operation),
  }
}

function errorContent({ area, tellsAccount, tellsParam, isAnthropic }: AnyOperation): Json {
  if (area === 'scim') return { [SCIM_CONTENT_TYPE]: { schema: reference('ScimError') } }
  return {
    'application/json': {
      schema: reference(
        isAnthropic === true
          ? 'MessageError'
          : tellsAccount === true
            ? 'AccountError'
            : tellsParam === true
              ? 'TypedError'
              : 'Error',
      ),
    },
  }
}

interface Gate {
  readonly failure: FailureName
  /** Empty: the text about the kind of the key covers it. */
  readonly text: string
}

/** The conditions on a workspace and on the hostname, in addition to the kind of the key. */
export function gatesOf({ access }: AnyOperation): readonly Gate[] {
  const gates: Gate[] = []
  const { keyScopes = [] } = access
  if (keyScopes.length > 0)
    gates.push({
      failure: 'scope_missing',
      text: access.keys.some((kind) => kind === 'inference' || kind === 'intern')
        ? `An inference or intern key with \`scopes\` needs the scope ${scopesText(keyScopes)}.`
        : '',
    })
  if (access.isOfProgramme === true)
    gates.push({
      failure: 'programme_closed',
      text: 'The workspace must have interns enabled (`programme`).',
    })
  if (access.refusesRegional === true)
    gates.push({ failure: 'regional_refused', text: 'The operation is not available on regional hostnames.' })
  if (access.writesVault === true)
    gates.push({ failure: 'vault_writes_disabled', text: 'Vault writes must be enabled for the workspace.' })
  return gates
}
