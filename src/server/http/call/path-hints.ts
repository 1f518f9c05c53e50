import { API_PREFIX, DASHBOARD_PATH, DOCS_PATH } from '../../../schemas/api-prefix.ts'
import type { Match } from './route-table.ts'

/** Segments of the prefix, which clients leave out or write twice. */
export const OF_PREFIX: readonly string[] = API_PREFIX.split('/').slice(1)
/** The segment that clients of OpenAI and Anthropic may add to their base URL. */
const VERSION = OF_PREFIX.at(-1) ?? ''
/** Segments of a path that are read. Decision. */
export const SEGMENTS_READ_MAX = 8

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

/** What a path without a route was probably meant for. */
export interface MeantPath {
  /** The path with the prefix once; null: it has the prefix once, or nothing is at the other path. */
  readonly path: string | null
  readonly match: Match
  /** How to correct the call, as a sentence; empty without one. */
  readonly hint: string
}

/**
 * @param path as sent
 * @param find the match of a path of the API
 */
export function meantPath(path: string, find: (path: string) => Match): MeantPath {
  const segments = path.split('/', SEGMENTS_READ_MAX).slice(1)
  const from = segments.findIndex((segment) => !OF_PREFIX.includes(segment))
  const before = from < 0 ? segments : segments.slice(0, from)
  const isWhole = before.join('/') === OF_PREFIX.join('/')
  const length = before.reduce((sum, segment) => sum + segment.length + 1, 0)
  const whole = API_PREFIX + path.slice(length)
  const match: Match = from < 0 || isWhole ? UNKNOWN : find(whole)
  if (match.kind === 'unknown') {
    const first = segments[from]?.toLowerCase() ?? ''
    // The API has paths below /admin, too: another one there is a misspelled operation.
    const hint = isWhole && first === 'admin' ? undefined : ELSEWHERE.get(first)
    return { path: null, match, hint: hint ?? '' }
  }
  const isTwice = before.filter((segment) => segment === VERSION).length > 1
  return { path: whole, match, hint: `${isTwice ? `It has \`/${VERSION}\` twice. ` : ''}${BASE_URLS}` }
}

const UNKNOWN: Match = { kind: 'unknown' }
