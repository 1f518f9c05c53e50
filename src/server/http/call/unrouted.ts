import type { Failure } from '../../../schemas/failures.ts'
import { editDistance, hintOf, shown } from '../../../schemas/nearest.ts'
import { API_PREFIX, DASHBOARD_PATH, DOCS_PATH, SCIM_PREFIX } from '../../../schemas/api-prefix.ts'
import { statusLine } from '../reply/reply.ts'
import type { Match, Routed } from './route-table.ts'
import type { RequestCall } from './request-call.ts'

const NO_CONTENT = 204
/** Segments of the prefix, which clients may omit or repeat. */
const OF_PREFIX: readonly string[] = API_PREFIX.split('/').slice(1)
/** The segment that clients of OpenAI and Anthropic may add to their base URL. */
const VERSION = OF_PREFIX.at(-1) ?? ''
/** Segments of a path that are read. Decision. */
const SEGMENTS_READ_MAX = 8

/** Answers requests without an operation: preflights, Sluice's own pages, and unknown paths. */
export function answerUnrouted(call: RequestCall, match: Exclude<Match, Routed>): void {
  const { deps, head } = call
  // The library drops a body without a listener at the end of the handler.
  if (head.declared !== 0) call.exchange.receive(0)
  if (match.kind === 'wrong_method') {
    if (deps.cors.isPreflight(head)) return answerPreflight(call, match.allowed)
    // The answer names the operation that accepts the other methods of the path.
    if (match.route !== undefined) call.operation = match.route.operation
    return call.fail({ name: 'method_not_allowed', fields: { allowed: match.allowed.join(', ') } })
  }
  if (match.kind === 'not_served') return call.fail(notServed(match.what, match.instead))
  const page = deps.site.find(head, deps.ports.publicOrigin)
  if (page === null)
    return call.isScim ? call.fail({ name: 'scim_resource_unknown' }) : call.fail(routeUnknown(call))
  call.after(page, (_call, found) => {
    if (!found.ok) return call.fail(found.failure)
    const reply = found.value
    const headers = [...reply.headers, ...call.corsHeaders]
    call.send({ ...reply, statusLine: statusLine(reply.status), headers })
  })
}

/** Names the path, the path that the client probably meant, and how to fix a wrong base URL. */
function routeUnknown({ deps: { table }, head: { path, method } }: RequestCall): Failure {
  const meant = meantPath(path, (other) => table.find(method, other))
  if (meant.match.kind === 'not_served') return notServed(path, meant.match.instead)
  const hint = meant.hint === '' ? '' : ` ${meant.hint}`
  return {
    name: 'route_unknown',
    detail: `No route matches ${shown(path)}.${hintOf(nearOf(meant.path ?? path, table))}${hint}`,
  }
}

function nearOf(path: string, { paths }: RequestCall['deps']['table']): readonly string[] {
  const equivalents = foreignEquivalents(path)
  if (equivalents.length > 0) return equivalents
  const near = nearestPath(path, paths)
  return near === null ? [] : [near]
}

function notServed(path: string, instead: string): Failure {
  return { name: 'not_served', fields: { what: shown(path), instead } }
}

/** @param allowed methods, upper case */
export function answerPreflight(call: RequestCall, allowed: readonly string[]): void {
  const headers = call.deps.cors.preflightHeaders(call.head, allowed)
  call.send({ status: NO_CONTENT, statusLine: statusLine(NO_CONTENT), headers, body: null })
}

/**
 * Operations of Sluice for the paths of LiteLLM's proxy, by the first two segments after prefix and version:
 * users who migrate from it try these paths.
 */
export const EQUIVALENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['key/generate', ['POST /keys']],
  ['key/info', ['GET /key', 'GET /keys/{hash}']],
  ['key/list', ['GET /keys']],
  ['key/update', ['PATCH /keys/{hash}']],
  ['key/block', ['PATCH /keys/{hash}']],
  ['key/unblock', ['PATCH /keys/{hash}']],
  ['key/delete', ['DELETE /keys/{hash}']],
  ['key/regenerate', ['POST /keys/{hash}/rotate']],
  ['user/new', ['POST /scim/v2/Users']],
  ['user/info', ['GET /organization/members']],
  ['user/list', ['GET /organization/members']],
  ['user/daily', ['GET /activity']],
  ['team/new', ['POST /workspaces']],
  ['team/info', ['GET /workspaces/{id}']],
  ['team/list', ['GET /workspaces']],
  ['team/update', ['PATCH /workspaces/{id}']],
  ['team/delete', ['DELETE /workspaces/{id}']],
  ['team/member_add', ['POST /workspaces/{id}/members/add']],
  ['team/member_delete', ['POST /workspaces/{id}/members/remove']],
  ['model/info', ['GET /models']],
  ['model_group/info', ['GET /models']],
  ['spend/logs', ['GET /activity']],
  ['spend/keys', ['GET /keys']],
  ['global/spend', ['GET /activity']],
])

/** Operations that correspond to this path of another proxy, each with its method; empty for an unknown path. */
function foreignEquivalents(path: string): readonly string[] {
  const segments = path.toLowerCase().split('/', SEGMENTS_READ_MAX)
  const from = segments.findIndex((segment) => segment !== '' && !OF_PREFIX.includes(segment))
  const found = from < 0 ? undefined : EQUIVALENTS.get(segments.slice(from, from + 2).join('/'))
  return (found ?? []).map(withPrefix)
}

function withPrefix(call: string): string {
  const [method = '', path = ''] = call.split(' ')
  return path.startsWith(SCIM_PREFIX) ? call : `${method} ${API_PREFIX}${path}`
}

/** Mistakes that a path may contain and still be recognized. Decision. */
const PATH_MISTAKES_MAX = 4
/** Letters of a segment for each mistake in it. Decision. */
const LETTERS_PER_MISTAKE = 3
/** Segments of a client's path that are compared. Decision. */
const COMPARED_SEGMENTS_MAX = 8
/** Characters of a client's path that are compared. Decision. */
const COMPARED_CHARS_MAX = 160

/**
 * The path of an operation that a client may have meant; null when none is similar.
 * @param paths as in OpenAPI, with their prefix
 */
export function nearestPath(requested: string, paths: Iterable<string>): string | null {
  const given = requested
    .slice(0, COMPARED_CHARS_MAX)
    .toLowerCase()
    .replace(/\/+/g, '/')
    .replace(/\/$/, '')
    .split('/')
    .slice(0, COMPARED_SEGMENTS_MAX)
  let [best, least]: [string | null, number] = [null, PATH_MISTAKES_MAX + 1]
  for (const path of paths) {
    const distance = distanceOf(given, path.split('/'), least - 1)
    if (distance >= least) continue
    best = path
    least = distance
  }
  return best
}

/** Number of mistakes: a parameter matches any segment; a missing version or prefix counts as two. */
function distanceOf(given: readonly string[], path: readonly string[], most: number): number {
  if (given.length === path.length) return between(given, path, most)
  // `/embeddings` and `/v1/embeddings` for `/api/v1/embeddings`.
  const missing = path.length - given.length
  if (missing !== 1 && missing !== 2) return most + 1
  return 2 + between(given.slice(1), path.slice(1 + missing), most - 2)
}

function between(given: readonly string[], path: readonly string[], most: number): number {
  // A path that consists only of parameters would match everything.
  if (!path.some((segment) => segment !== '' && !segment.startsWith('{'))) return most + 1
  let distance = 0
  for (const [at, segment] of path.entries()) {
    const text = given[at] ?? ''
    if (segment.startsWith('{') && text !== '') continue
    // A segment with mistakes in more than a third of its letters is a different word.
    const allowed = Math.min(most - distance, Math.max(1, Math.floor(segment.length / LETTERS_PER_MISTAKE)))
    const mistakes = editDistance(text, segment, Math.max(0, allowed))
    if (mistakes > allowed) return most + 1
    distance += mistakes
  }
  return distance
}

const BASE_URLS =
  `For OpenAI's clients, the base URL ends in \`${API_PREFIX}\`; for Anthropic's clients, it ends in ` +
  `\`${API_PREFIX.slice(0, -VERSION.length - 1)}\`: the client appends the rest of the path.`

const HEALTH =
  'For a health check, use `GET /healthz` (the process is running) or `GET /readyz` (it accepts calls).'
const ADMIN = 'on the admin port (`SLUICE_ADMIN_PORT`), not on this port'
const METRICS = `Metrics are at \`GET /metrics\` ${ADMIN}.`
const DASHBOARD = `The dashboard is at \`${DASHBOARD_PATH}\` ${ADMIN}.`
const REFERENCE = `The API reference is at \`${DOCS_PATH}\`.`

/** First segments of paths that other programs serve, and of the admin port's. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...['health', 'healthcheck', 'livez', 'live', 'ready', 'healthz', 'readyz', 'ping', 'status'].map(
    (name) => [name, HEALTH] as const,
  ),
  ['metrics', METRICS],
  ...['dashboard', 'admin', 'ui', 'login'].map((name) => [name, DASHBOARD] as const),
  ...['swagger', 'redoc'].map((name) => [name, REFERENCE] as const),
])

const UNKNOWN: Match = { kind: 'unknown' }

/** The path that a client probably meant by a path without a route. */
interface MeantPath {
  /** The path with the prefix exactly once; null: it already is, or there is nothing at the corrected path. */
  readonly path: string | null
  readonly match: Match
  /** How to correct the call, as a sentence; empty without one. */
  readonly hint: string
}

/** @param path as sent @param find the match of a path of the API */
function meantPath(path: string, find: (path: string) => Match): MeantPath {
  const segments = path.split('/', SEGMENTS_READ_MAX).slice(1)
  const from = segments.findIndex((segment) => !OF_PREFIX.includes(segment))
  const before = from < 0 ? segments : segments.slice(0, from)
  const isWhole = before.join('/') === OF_PREFIX.join('/')
  const length = before.reduce((sum, segment) => sum + segment.length + 1, 0)
  const whole = API_PREFIX + path.slice(length)
  const match: Match = from < 0 || isWhole ? UNKNOWN : find(whole)
  if (match.kind === 'unknown') {
    const first = segments[from]?.toLowerCase() ?? ''
    // The API also has paths below /admin: another path there is a misspelled operation.
    const hint = isWhole && first === 'admin' ? undefined : ELSEWHERE.get(first)
    return { path: null, match, hint: hint ?? '' }
  }
  const isTwice = before.filter((segment) => segment === VERSION).length > 1
  return { path: whole, match, hint: `${isTwice ? `It has \`/${VERSION}\` twice. ` : ''}${BASE_URLS}` }
}
