import { API_PREFIX, SCIM_PREFIX } from '../../../schemas/api-prefix.ts'
import { BODIES, type BodyForm, type BodyName } from '../../../schemas/bodies.ts'
import { isRateLimited, prefixOf, type AnyOperation } from '../../operations/define.ts'
import { memberNames } from '../../../schemas/known-members.ts'
import { servedInstead } from './not-served.ts'
import { compileUrlReader, decodedSegment, type UrlReader } from './query.ts'

/** An operation prepared for service: everything that can be computed at boot. */
export interface Route {
  readonly operation: AnyOperation
  /** Names of the path's `{name}` segments, in their order. */
  readonly names: readonly string[]
  readonly params: UrlReader | null
  readonly query: UrlReader | null
  readonly body: NamedForm | null
  /** True when the operation's statuses include 429. */
  readonly isLimited: boolean
  /** True when its use of the loop counts as use by calls to models. */
  readonly isModelCall: boolean
  /**
   * The members of the answers of a management write, which clients may send back unchanged; null for other
   * operations, where an unknown name is not treated as a typing error.
   */
  readonly answered: ReadonlySet<string> | null
}

export interface NamedForm {
  readonly name: BodyName
  readonly form: BodyForm
}

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: ReadonlyMap<string, readonly string[]> }
  /** The path is known, but a segment that is not an id cannot be decoded; `params` has the other segments. */
  | {
      readonly kind: 'undecodable'
      readonly route: Route
      readonly params: ReadonlyMap<string, readonly string[]>
    }
  /** `route` is set when the operation of the path accepts all other methods. */
  | { readonly kind: 'wrong_method'; readonly allowed: readonly string[]; readonly route?: Route }
  | { readonly kind: 'not_served'; readonly what: string; readonly instead: string }
  | { readonly kind: 'unknown' }

export type Routed = Extract<Match, { kind: 'route' | 'undecodable' }>

/** Replaces an id that cannot be decoded: no id contains this character, so that the answer is that for an unknown id. */
const UNDECODABLE = '\ufffd'

/** Methods that stand for `any` in descriptions. `any` accepts all methods except those that would echo a request to its sender. */
export const METHODS_OF_ANY = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const
export const ALLOWED_BY_ANY: readonly string[] = METHODS_OF_ANY.map((method) => method.toUpperCase())
const NEVER_RELAYED: ReadonlySet<string> = new Set(['connect', 'trace'])

const NO_PARAMS: ReadonlyMap<string, readonly string[]> = new Map()

/** Compiles operations into a lookup. Throws for two operations with the same method and path, which is a bug in the definitions. */
export function buildRouteTable(operations: readonly AnyOperation[]): RouteTable {
  const table = new RouteTable()
  for (const operation of operations) table.add(routeOf(operation))
  return table
}

/** Whether answers at the path follow RFC 7644, with or without an operation. */
export function isScimPath(path: string): boolean {
  return (
    path.startsWith(SCIM_PREFIX) && (path.length === SCIM_PREFIX.length || path[SCIM_PREFIX.length] === '/')
  )
}

/** Whether answers at the path are for clients of Anthropic, with or without an operation. */
export function isMessagesPath(path: string): boolean {
  return (
    path.startsWith(MESSAGES_PATH) &&
    (path.length === MESSAGES_PATH.length || path[MESSAGES_PATH.length] === '/')
  )
}

const MESSAGES_PATH = `${API_PREFIX}/messages`

export class RouteTable {
  readonly #root = new Node()
  readonly #scimRoot = new Node()
  /** Paths without parameters by their full text: frequent paths need only one lookup. */
  readonly #literal = new Map<string, Node>()
  /** Routes whose last parameter takes the rest of the path. */
  readonly #rests: Rest[] = []
  /** Routes at the root, each with the literal start of its paths. */
  readonly #atRoot: { readonly route: Route; readonly start: string }[] = []

  /** Beginnings of paths that are followed by the id of a model, which has two segments. */
  readonly #beforeIds = new Set<string>()

  /** Paths of all operations below a prefix, as in OpenAPI, with the prefix. */
  readonly paths = new Set<string>()

  add(route: Route): void {
    const { method, path, input, isAtRoot, area } = route.operation
    if (isAtRoot !== true) this.paths.add(`${prefixOf(route.operation)}${path}`)
    if (isAtRoot === true) {
      this.#atRoot.push({ route, start: path.slice(0, path.indexOf('{')) })
      return
    }
    if (input.hasRest === true) {
      this.#rests.push({ route, segments: segmentsOf(path).slice(0, -1) })
      return
    }
    const idAt = path.indexOf(MODEL_ID)
    if (idAt >= 0) this.#beforeIds.add(path.slice(0, idAt))
    let node = area === 'scim' ? this.#scimRoot : this.#root
    for (const segment of segmentsOf(path)) node = node.child(segment)
    if (node.routes.has(method)) throw new Error(`two operations at ${method} ${path}`)
    node.routes.set(method, route)
    if (route.names.length === 0) this.#literal.set(`${prefixOf(route.operation)}${path}`, node)
  }

  /**
   * @param method lower case; `head` finds the route of `get`
   * @param path as sent; each segment is decoded once, and one trailing slash is tolerated
   */
  find(method: string, path: string): Match {
    const literal = this.#literal.get(path)?.routeOf(method)
    if (literal !== undefined) return pickRoute(literal, [])
    if (isScimPath(path)) return findBelow(this.#scimRoot, method, path.slice(SCIM_PREFIX.length)) ?? UNKNOWN
    if (!path.startsWith(`${API_PREFIX}/`)) return this.#findAtRoot(method, path) ?? notServed(path)
    const whole = path.slice(API_PREFIX.length)
    const below = withoutSlash(whole)
    const sent = findBelow(this.#root, method, below)
    const exact = sent === null || hasWholeId(sent) ? (this.#findWholeId(method, below) ?? sent) : sent
    if (exact !== null && exact.kind !== 'wrong_method') return exact
    const rest = this.#findRest(method, segmentsOf(whole).map(decodedSegment), exact?.allowed ?? [])
    if (rest !== null) return rest
    if (exact !== null) return exact
    return notServed(`${API_PREFIX}${below}`)
  }

  isAtRoot(path: string): boolean {
    for (const { start } of this.#atRoot) if (path.startsWith(start)) return true
    return false
  }

  /** Finds a path in which one segment is the whole id of a model: clients also encode its slash. */
  #findWholeId(method: string, path: string): ReturnType<typeof pick> {
    for (const start of this.#beforeIds) {
      const id = path.startsWith(start) ? path.slice(start.length) : ''
      const parted = id.replace(/^([^/]+?)%2f/i, '$1/')
      if (parted !== id) return findBelow(this.#root, method, `${start}${parted}`)
    }
    return null
  }

  /** Finds a path at the root, without decoding or tolerating deviations: a relay passes the path on as sent. */
  #findAtRoot(method: string, path: string): Match | null {
    const found = this.#atRoot.find(
      ({ start }) => path.startsWith(start) && path.length > start.length && path[start.length] !== '/',
    )
    if (found === undefined) return null
    if (NEVER_RELAYED.has(method))
      return { kind: 'wrong_method', allowed: ALLOWED_BY_ANY, route: found.route }
    const { route, start } = found
    const end = path.indexOf('/', start.length)
    const [first, rest] =
      end < 0 ? [path.slice(start.length), ''] : [path.slice(start.length, end), path.slice(end + 1)]
    return pickRoute(route, [first, rest])
  }

  /** @param allowed methods that other routes accept at the path */
  #findRest(method: string, given: readonly (string | null)[], allowed: readonly string[]): Match | null {
    const found = this.#rests.filter(({ segments }) => isBelow(segments, given))
    const rest = found.find(({ route }) => route.operation.method === method)
    if (rest === undefined) {
      const methods = found.map(({ route }) => route.operation.method.toUpperCase())
      return methods.length === 0
        ? null
        : { kind: 'wrong_method', allowed: [...new Set([...allowed, ...methods])].sort() }
    }
    const { route, segments } = rest
    const tail = given.slice(segments.length)
    const values = [
      ...given.filter((_, index) => isParameter(segments[index] ?? '')),
      tail.includes(null) ? null : tail.join('/'),
    ]
    return pickRoute(route, values)
  }
}

const MODEL_ID = '{author}/{slug}'
const UNKNOWN: Match = { kind: 'unknown' }

/** The match for a path without an operation, which clients may know. */
function notServed(path: string): Match {
  const instead = servedInstead(path)
  return instead === null ? UNKNOWN : { kind: 'not_served', what: path, instead }
}

/** True if the segment is a whole id: the author of a model never contains a slash. */
function hasWholeId(match: NonNullable<ReturnType<typeof pick>>): boolean {
  return match.kind !== 'wrong_method' && match.params.get('author')?.[0]?.includes('/') === true
}

/** @param path below the prefix, as sent */
function findBelow(root: Node, method: string, path: string): ReturnType<typeof pick> {
  return pick([...walk(root, segmentsOf(withoutSlash(path)).map(decodedSegment))], method)
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/$/, '')
}

/** @param given with at least one segment after `segments` that is not empty */
function isBelow(segments: readonly string[], given: readonly (string | null)[]): boolean {
  const hasRest =
    given.length > segments.length + 1 || (given.length > segments.length && given.at(-1) !== '')
  return (
    hasRest &&
    segments.every((segment, index) =>
      isParameter(segment) ? given[index] !== '' : given[index] === segment,
    )
  )
}

interface Rest {
  readonly route: Route
  /** Segments of the path before its last parameter. */
  readonly segments: readonly string[]
}

class Node {
  readonly routes = new Map<string, Route>()
  readonly literals = new Map<string, Node>()
  parameter: Node | null = null

  /** `head` finds the route of `get`. */
  routeOf(method: string): Route | undefined {
    const own = this.routes.get(method === 'head' ? 'get' : method)
    return own ?? (NEVER_RELAYED.has(method) ? undefined : this.routes.get('any'))
  }

  child(segment: string): Node {
    if (isParameter(segment)) return (this.parameter ??= new Node())
    const known = this.literals.get(segment)
    if (known !== undefined) return known
    const node = new Node()
    this.literals.set(segment, node)
    return node
  }
}

/** A node that matches a path, and the values of the path's parameters; null stands for a value that cannot be decoded. */
interface Place {
  readonly node: Node
  readonly values: readonly (string | null)[]
}

/** Every node that matches a path: nodes for literal segments come before nodes for parameters. */
function* walk(
  node: Node,
  [segment, ...below]: readonly (string | null)[],
  values: Place['values'] = [],
): Generator<Place> {
  if (segment === undefined) {
    if (node.routes.size > 0) yield { node, values }
    return
  }
  const literal = segment === null ? undefined : node.literals.get(segment)
  if (literal !== undefined) yield* walk(literal, below, values)
  if (node.parameter !== null && segment !== '') yield* walk(node.parameter, below, [...values, segment])
}

/**
 * A literal segment takes precedence if its node has the method. For any other method, the segment may be the
 * value of a parameter that equals the name of an action.
 */
function pick(
  places: readonly Place[],
  method: string,
): Routed | Extract<Match, { kind: 'wrong_method' }> | null {
  for (const { node, values } of places) {
    const route = node.routeOf(method)
    if (route !== undefined) return pickRoute(route, values)
  }
  return places.length === 0 ? null : { kind: 'wrong_method', allowed: allowedOf(places) }
}

function pickRoute(route: Route, values: readonly (string | null)[]): Routed {
  if (values.length === 0) return { kind: 'route', route, params: NO_PARAMS }
  const params = new Map<string, readonly string[]>()
  for (const [index, name] of route.names.entries()) {
    const value = values[index]
    if (typeof value === 'string') params.set(name, [value])
    else if (isId(route, index)) params.set(name, [UNDECODABLE])
  }
  return { kind: params.size === route.names.length ? 'route' : 'undecodable', route, params }
}

/** Whether the parameter is an id. The rest of a path is not one, even if the name of its parameter ends like that of an id. */
function isId({ names, operation }: Route, index: number): boolean {
  const isRest = operation.input.hasRest === true && index === names.length - 1
  return !isRest && names[index]?.endsWith('_id') === true
}

function allowedOf(places: readonly Place[]): readonly string[] {
  const methods = new Set(places.flatMap(({ node }) => [...node.routes.keys()]))
  if (methods.has('any')) return ALLOWED_BY_ANY
  const all = methods.has('get') ? [...methods, 'head'] : [...methods]
  return all.map((method) => method.toUpperCase()).sort()
}

function routeOf(operation: AnyOperation): Route {
  const { input } = operation
  const { params, query, body, upload } = input
  if (operation.idempotent === true && upload !== undefined)
    throw new Error(`${operation.id}: an idempotent operation cannot have an upload`)
  if (operation.area === 'scim' && operation.idempotent === true)
    throw new Error(`${operation.id}: a SCIM operation cannot be idempotent`)
  if (operation.area === 'scim' && input.hasRest === true)
    throw new Error(`${operation.id}: a SCIM path cannot end in a wildcard`)
  if (operation.idempotent === true && operation.success.body === null)
    throw new Error(`${operation.id}: an idempotent operation needs an answer body`)
  const isModelCall = body !== undefined && (operation.tag === 'inference' || operation.tag === 'embeddings')
  const isManagement = body !== undefined && operation.access.keys.includes('management') && !isModelCall
  return {
    operation,
    names: segmentsOf(operation.path)
      .filter(isParameter)
      .map((segment) => segment.slice(1, -1)),
    params: params === undefined ? null : compileUrlReader(params, 'params_invalid'),
    query: query === undefined ? null : compileUrlReader(query, 'query_invalid'),
    body: body === undefined ? null : { name: body, form: BODIES[body] },
    isLimited: isRateLimited(operation),
    isModelCall,
    answered: isManagement ? new Set(memberNames(operation.success.body)) : null,
  }
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').slice(1)
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}
