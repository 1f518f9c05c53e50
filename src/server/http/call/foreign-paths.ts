import { API_PREFIX, SCIM_PREFIX } from '../../../schemas/api-prefix.ts'
import { OF_PREFIX, SEGMENTS_READ_MAX } from './path-hints.ts'

/**
 * Operations by the first two segments, after prefix and version, of the paths that LiteLLM's proxy has for
 * them: who comes from it tries these.
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

/** Operations that do what another proxy does at this path, each with its method; empty for an unknown path. C39. */
export function foreignEquivalents(path: string): readonly string[] {
  const segments = path.toLowerCase().split('/', SEGMENTS_READ_MAX)
  const from = segments.findIndex((segment) => segment !== '' && !OF_PREFIX.includes(segment))
  const found = from < 0 ? undefined : EQUIVALENTS.get(segments.slice(from, from + 2).join('/'))
  return (found ?? []).map(withPrefix)
}

function withPrefix(call: string): string {
  const [method = '', path = ''] = call.split(' ')
  return path.startsWith(SCIM_PREFIX) ? call : `${method} ${API_PREFIX}${path}`
}
