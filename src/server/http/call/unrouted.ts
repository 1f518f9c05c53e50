import type { Failure } from '../../../schemas/failures.ts'
import { hintOf, shown } from '../../../schemas/nearest.ts'
import { foreignEquivalents } from './foreign-paths.ts'
import { nearestPath } from './nearest-path.ts'
import { meantPath } from './path-hints.ts'
import { statusLine } from '../reply/reply.ts'
import type { Match, Routed } from './route-table.ts'
import type { RequestCall } from './request-call.ts'

const NO_CONTENT = 204

/** Answers requests without an operation: preflights, Sluice's own pages, and unknown paths. */
export function answerUnrouted(call: RequestCall, match: Exclude<Match, Routed>): void {
  const { deps, head } = call
  // The library drops a body without a listener at the end of the handler.
  if (head.declared !== 0) call.exchange.receive(0)
  if (match.kind === 'wrong_method') {
    if (deps.cors.isPreflight(head)) return answerPreflight(call, match.allowed)
    // The answer names the operation that takes the path's other methods.
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

/** Names the path, the path that the client probably meant, and what mends a wrong base URL. C39. */
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
