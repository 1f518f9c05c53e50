import type { TSchema } from 'typebox'
import type { BodyName } from '../../../schemas/bodies.ts'
import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type { Attributes } from '../../../schemas/scim/scim-attributes.ts'
import {
  ScimListQuery,
  ScimParams,
  ScimShownQuery,
  type ScimSearchBody,
} from '../../../schemas/scim/scim-resources.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ScimPage, ScimQuery, ScimResources } from '../../ports/scim/scim.ts'
import { defineOperation, type AnyOperation, type Call, type Success } from '../define.ts'
import { patchStepsOf, type PatchStep } from './patch-steps.ts'
import { selectionOf, type Selection } from './projection.ts'
import {
  directoryActorOf,
  etagOf,
  EXAMPLE_ID,
  isKnown,
  queryOf,
  versionsOf,
  type Tagged,
} from './scim-calls.ts'

interface CallText {
  readonly id: string
  readonly summary: string
  readonly description?: string
}

/** How much of a resource a reply shows, and the URL of the service. */
export interface Shown {
  readonly selection: Selection
  readonly publicOrigin: string
}

/** A kind of resource; all its operations are derived from this description. RFC 7644 §3. */
export interface ScimResource<R extends Tagged, Input, Change> {
  readonly path: 'Users' | 'Groups'
  readonly texts: Readonly<
    Record<'list' | 'search' | 'get' | 'create' | 'replace' | 'patch' | 'delete', CallText>
  >
  readonly examples: {
    readonly list: ScimListQuery
    readonly search: ScimSearchBody
    readonly create: object
    readonly replace: object
    readonly patch: object
  }
  readonly deadlineMs: number
  readonly bodies: { readonly replace: BodyName; readonly patch: BodyName }
  readonly shapes: { readonly one: TSchema; readonly list: TSchema }
  /** Failures besides those that all resources have. */
  readonly failures: {
    readonly unknown: FailureName
    readonly list: readonly FailureName[]
    readonly get: readonly FailureName[]
    readonly create: readonly FailureName[]
    readonly update: readonly FailureName[]
  }
  /** False: the reply to a PATCH has no body. RFC 7644 §3.5.2. */
  readonly isPatchShown: boolean
  store(ports: Ports): ScimResources<R, Input, Change>
  inputOf(body: Attributes): Outcome<Input>
  replacing(body: Attributes): Outcome<Change>
  patching(id: string, steps: readonly PatchStep[]): Outcome<Change>
  /**
   * True when the reply includes members, which changes do not return.
   * @param input of a resource that was created
   */
  hasMembers(selection: Selection, input?: Input): boolean
  answer(resource: R, shown: Shown): Success
  list(query: ScimQuery, page: ScimPage<R>, shown: Shown): Success
}

const ONE_HEADERS = { etag: 'ETag of the resource.', location: 'URL of the resource.' }
const PARAMS = { id: EXAMPLE_ID }

/** In the order of the reference page. */
export function resourceOperations<R extends Tagged, Input, Change>(
  resource: ScimResource<R, Input, Change>,
): readonly AnyOperation[] {
  return [
    ...listings(resource),
    getting(resource),
    creating(resource),
    changing(resource, 'replace'),
    changing(resource, 'patch'),
    deleting(resource),
  ]
}

/** The parts of a definition that depend on its resource. */
function headOf<R extends Tagged, I, C>(
  { texts, path, deadlineMs }: ScimResource<R, I, C>,
  call: keyof typeof texts,
  below = '',
) {
  return { ...texts[call], area: 'scim', tag: 'scim', path: `/${path}${below}`, deadlineMs } as const
}

/** The two lists: one with its query in the URL, one with its query in the body. Source: RFC 7644 §3.4.2, §3.4.3. */
function listings<R extends Tagged, I, C>(resource: ScimResource<R, I, C>): readonly AnyOperation[] {
  const { examples, shapes, failures: more } = resource
  const failures = ['scim_filter_invalid', 'scim_value_invalid', ...more.list, 'store_unavailable'] as const
  const listed = async (call: Caller, given: ScimListQuery | ScimSearchBody, ports: Ports) => {
    const [query, selection] = [queryOf(given), selectionOf(given)]
    const hasMembers = resource.hasMembers(selection)
    const page = await resource.store(ports).list(call.key.organizationId, query, hasMembers)
    if (!page.ok) return page
    return inRoom(
      resource.list(query, page.value, { selection, publicOrigin: ports.publicOrigin }),
      call,
      ports,
    )
  }
  return [
    defineOperation({
      ...headOf(resource, 'list'),
      method: 'get',
      input: { query: ScimListQuery },
      success: { status: 200, body: shapes.list, isList: true },
      statuses: [400, 403, 500],
      failures,
      example: { query: examples.list },
      run: (call, ports) => listed(call, call.query, ports),
    }),
    defineOperation({
      ...headOf(resource, 'search', '/.search'),
      method: 'post',
      outlivesClient: false,
      input: { body: 'scim_search' },
      success: { status: 200, body: shapes.list },
      statuses: [400, 403, 413, 500],
      failures,
      example: { body: examples.search },
      run: (call, ports) => listed(call, call.body, ports),
    }),
  ]
}

/** Source: RFC 7644 §3.4.1, §3.14. */
function getting<R extends Tagged, I, C>(resource: ScimResource<R, I, C>): AnyOperation {
  return defineOperation({
    ...headOf(resource, 'get', '/{id}'),
    method: 'get',
    input: { params: ScimParams, query: ScimShownQuery, headers: ['if-none-match'] },
    success: { status: 200, body: resource.shapes.one, isConditional: true, headers: ONE_HEADERS },
    statuses: [403, 404, 500],
    failures: [resource.failures.unknown, ...resource.failures.get, 'store_unavailable'],
    example: { params: PARAMS },
    async run(call, ports) {
      const { headers, key, params, query } = call
      const selection = selectionOf(query)
      const hasMembers = resource.hasMembers(selection)
      const found = await resource.store(ports).get(key.organizationId, params.id, hasMembers)
      if (!found.ok) return found
      if (isKnown(headers['if-none-match'], found.value))
        return ok({ kind: 'unmodified', headers: { etag: etagOf(found.value) } })
      return inRoom(
        resource.answer(found.value, { selection, publicOrigin: ports.publicOrigin }),
        call,
        ports,
      )
    },
  })
}

interface CreateInputs {
  readonly query: typeof ScimShownQuery
  readonly body: BodyName
}

/** Source: RFC 7644 §3.3. */
function creating<R extends Tagged, I, C>(resource: ScimResource<R, I, C>): AnyOperation {
  return defineOperation<CreateInputs, Attributes>({
    ...headOf(resource, 'create'),
    method: 'post',
    input: { query: ScimShownQuery, body: resource.bodies.replace },
    success: { status: 201, body: resource.shapes.one, headers: ONE_HEADERS },
    statuses: [400, 403, 409, 413, 500],
    failures: ['scim_value_invalid', ...resource.failures.create, 'store_unavailable'],
    example: { body: resource.examples.create },
    async run(call, ports) {
      const input = resource.inputOf(call.body)
      if (!input.ok) return input
      const made = await resource.store(ports).create(input.value, directoryActorOf(call))
      return made.ok ? written(resource, made.value, { call, ports, input: input.value }) : made
    },
  })
}

interface ChangeInputs {
  readonly params: typeof ScimParams
  readonly query?: typeof ScimShownQuery
  readonly headers: readonly ['if-match']
  readonly body: BodyName
}

const PATCH_FAILURES = ['scim_path_invalid', 'scim_target_missing', 'scim_immutable'] as const

/** Source: RFC 7644 §3.5.1, §3.5.2. */
function changing<R extends Tagged, I, C>(
  resource: ScimResource<R, I, C>,
  kind: 'replace' | 'patch',
): AnyOperation {
  const isPatch = kind === 'patch'
  const isShown = !isPatch || resource.isPatchShown
  return defineOperation<ChangeInputs, Attributes>({
    ...headOf(resource, kind, '/{id}'),
    method: isPatch ? 'patch' : 'put',
    input: {
      params: ScimParams,
      ...(isShown && { query: ScimShownQuery }),
      headers: ['if-match'],
      body: resource.bodies[kind],
    },
    success: isShown
      ? { status: 200, body: resource.shapes.one, headers: ONE_HEADERS }
      : { status: 204, body: null, headers: { etag: ONE_HEADERS.etag } },
    statuses: [400, 403, 404, 409, 412, 413, 500],
    failures: [
      resource.failures.unknown,
      'scim_value_invalid',
      ...(isPatch ? PATCH_FAILURES : []),
      ...resource.failures.update,
      'scim_version_differs',
      'store_unavailable',
    ],
    example: { params: PARAMS, body: resource.examples[kind] },
    async run(call, ports) {
      const { body, headers, params } = call
      const change = await (isPatch ? patchOf(resource, params.id, body) : resource.replacing(body))
      if (!change.ok) return change
      const versions = versionsOf(headers['if-match'])
      const by = directoryActorOf(call)
      const changed = await resource.store(ports).update(params.id, change.value, versions, by)
      if (!changed.ok) return changed
      return isShown
        ? written(resource, changed.value, { call, ports })
        : ok({ kind: 'nothing', headers: { etag: etagOf(changed.value) } })
    },
  })
}

async function patchOf<R extends Tagged, I, C>(
  resource: ScimResource<R, I, C>,
  id: string,
  body: Attributes,
): Promise<Outcome<C>> {
  const steps = await patchStepsOf(body)
  return steps.ok ? resource.patching(id, steps.value) : steps
}

/** Source: RFC 7644 §3.6. */
function deleting<R extends Tagged, I, C>(resource: ScimResource<R, I, C>): AnyOperation {
  return defineOperation({
    ...headOf(resource, 'delete', '/{id}'),
    method: 'delete',
    input: { params: ScimParams, headers: ['if-match'] },
    success: { status: 204, body: null },
    statuses: [403, 404, 412, 500],
    failures: [resource.failures.unknown, 'scim_version_differs', 'store_unavailable'],
    example: { params: PARAMS },
    async run(call, ports) {
      const versions = versionsOf(call.headers['if-match'])
      const removed = await resource.store(ports).remove(call.params.id, versions, directoryActorOf(call))
      return removed.ok ? ok({ kind: 'nothing' }) : removed
    },
  })
}

type Caller = Pick<Call, 'key'>

interface Written<I> {
  readonly call: Caller & { readonly query: ScimShownQuery | undefined }
  readonly ports: Ports
  readonly input?: I
}

/** The reply to a change; if it includes members, the resource is read again, since a change does not return them. */
async function written<R extends Tagged, I, C>(
  resource: ScimResource<R, I, C>,
  changed: R,
  { call, ports, input }: Written<I>,
): Promise<Outcome<Success>> {
  const shown = { selection: selectionOf(call.query ?? {}), publicOrigin: ports.publicOrigin }
  if (!resource.hasMembers(shown.selection, input)) return ok(resource.answer(changed, shown))
  const whole = await resource.store(ports).get(call.key.organizationId, changed.id, true)
  return whole.ok ? ok(resource.answer(whole.value, shown)) : whole
}

/** The bytes of a reply count against the organization's limit until the client has read them. Failure: busy. */
function inRoom(answer: Success, { key }: Caller, { scimAnswers }: Ports): Outcome<Success> {
  if (answer.kind !== 'bytes') return ok(answer)
  const bytes = answer.parts.reduce((sum, part) => sum + part.length, 0)
  const done = scimAnswers.hold(key.organizationId, bytes)
  return done === null ? fail('busy', { retryAfterS: 1 }) : ok({ ...answer, done })
}
