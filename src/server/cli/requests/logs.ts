import { once } from 'node:events'
import { setTimeout as after } from 'node:timers/promises'
import { Option, type Command } from 'commander'
import { FAILURES, textOf, type FailureName } from '../../../schemas/failures.ts'
import { failureWords } from '../../../schemas/failure-words.ts'
import { reasonText } from '../../../schemas/requests/failure-reason.ts'
import { REQUESTS_PAGE_MAX } from '../../../schemas/requests/request-limits.ts'
import { fits } from '../../../schemas/fits.ts'
import { expectedBy } from '../../../schemas/issues.ts'
import {
  ListRequestsQuery,
  REQUEST_FORMATS,
  type RequestFormat,
  type RequestShape,
} from '../../../schemas/requests/requests.ts'
import { requestWire } from '../../operations/requests/request-answers.ts'
import { requestQueryOf } from '../../operations/requests/request-query.ts'
import { csvOf } from '../../operations/requests/request-tables.ts'
import type { LoggedRequest, RequestQuery } from '../../ports/requests/request-log.ts'
import type { Store } from '../../store/base/open.ts'
import { findRequests } from '../../store/requests/request-search.ts'
import { need, withDatabase } from '../parts/database.ts'
import { inOrganization, organizationOf, type PlaceOptions } from '../parts/places.ts'
import { idIfAny } from '../parts/reference.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { escapeControlsInJson, escapeControlsInLines } from '../parts/terminal-text.ts'
import { addVerb, CliFailure, countOf, table, timeOf } from '../parts/verb.ts'

interface Options extends PlaceOptions {
  readonly unauthenticated?: true
  readonly limit: number
  readonly follow?: true
  readonly format?: RequestFormat
}

const LISTED_DEFAULT = 50

const isoOf = (text: string): string => timeOf(text).toISOString()

const ASKED = optionsOf(ListRequestsQuery, {
  failed: { flags: '--failed', about: 'only failed calls' },
  left: { flags: '--left', about: 'only calls whose client disconnected before the end of the answer' },
  key: { flags: '--key <ref>', about: 'key name, hash or hash prefix', parse: String },
  model: '--model <id>',
  provider: '--provider <slug>',
  status: '--status <status>',
  error_type: '--error <type>',
  operation: '--operation <id>',
  workspace_id: { flags: '--workspace <ref>', about: 'workspace id or slug' },
  request_id: {
    flags: '--request-id <id>',
    about: 'only the call with this x-request-id; logged about a second after the call ends',
  },
  min_duration_ms: '--min-duration <ms>',
  min_cost_usd: '--min-cost <usd>',
  from: { flags: '--from <time>', parse: isoOf },
  to: { flags: '--to <time>', parse: isoOf },
})

/** `logs`. */
export function addTo(program: Command): void {
  const verb = addVerb(
    program,
    'logs',
    'show the request log, newest calls first: caller, model, failure and cost',
  ).option('-f, --follow', 'show calls as they finish, until Ctrl+C')
  inOrganization(ASKED.addTo(verb), 'only')
    .option('--unauthenticated', 'only calls without a valid key, which do not belong to an organization')
    .option('--limit <count>', 'maximum number of calls', countOf, LISTED_DEFAULT)
    .addOption(
      new Option('--format <form>', 'print csv or ndjson instead of a table').choices(REQUEST_FORMATS),
    )
    .action((options: Options) => withDatabase(({ store }) => logs(store, options)))
}

async function logs(store: Store, options: Options): Promise<void> {
  const organizationId = options.unauthenticated === true ? null : await organizationOf({ store }, options)
  const query = { organizationId, ...need(requestQueryOf(await askedOf(store, options))) }
  if (options.follow !== true) return printRows(options, await pagesOf(store, query, options.limit))
  const ended = once(process, 'SIGINT').then(() => false)
  const rows = followed({
    find: (from) => pagesOf(store, { ...query, from }, Infinity),
    pause: (ms) => Promise.race([ended, after(ms, true)]),
    now: Date.now,
  })
  for await (const some of rows) printRows({ ...options, isFollowing: true }, some)
}

/**
 * The options as a query of the operation. The key is resolved to its full hash if such a key exists; otherwise
 * the text is kept, since it may be the hash of a revoked key or the beginning of one. Throws CliFailure.
 */
async function askedOf({ sql }: Store, options: Options): Promise<ListRequestsQuery> {
  const asked = ASKED.from(options)
  if (asked.key === undefined) return asked
  const key = await idIfAny(sql, 'key', asked.key)
  if (fits(KEY, key)) return { ...asked, key }
  throw new CliFailure(`--key takes ${expectedBy(KEY)}`)
}

const { key: KEY } = ListRequestsQuery.properties

/** All pages until there are enough rows. */
async function pagesOf(store: Store, query: RequestQuery, most: number): Promise<readonly LoggedRequest[]> {
  const found: LoggedRequest[] = []
  for (let before = query.before; found.length < most;) {
    const limit = Math.min(REQUESTS_PAGE_MAX, most - found.length)
    const page = need(await findRequests(store, { ...query, limit, ...(before !== undefined && { before }) }))
    found.push(...page.rows)
    if (page.next === null) break
    before = page.next
  }
  return found
}

function printRows(
  {
    json,
    format,
    isFollowing = false,
  }: Pick<Options, 'json' | 'format'> & { readonly isFollowing?: boolean },
  rows: readonly LoggedRequest[],
): void {
  const data = rows.map(requestWire)
  const form = format ?? (json === true ? 'json' : 'table')
  // Names of private models are chosen by callers.
  if (form === 'csv') return write(escapeControlsInLines(csvOf(data).replaceAll('\r\n', '\n')))
  if (form === 'ndjson' || (form === 'json' && isFollowing))
    return write(data.map((row) => `${escapeControlsInJson(row)}\n`).join(''))
  if (form === 'json') return write(`${escapeControlsInJson({ data })}\n`)
  const lines = table([...(isFollowing ? [] : [HEADS]), ...data.map(cellsOf)])
  if (lines !== '') write(`${lines}\n`)
}

function write(text: string): void {
  process.stdout.write(text)
}

const HEADS = [
  'ENDED',
  'STATUS',
  'OPERATION',
  'KEY',
  'MODEL',
  'PROVIDER',
  'MS',
  'USD',
  'ERROR',
  'REQUEST',
  'REASON',
]
const HASH_CHARS = 12

function cellsOf(row: RequestShape): readonly string[] {
  const { error_type: error, weight, limit } = row
  return [
    row.ended_at,
    String(row.status ?? '?'),
    weight === 1 ? row.operation : `${row.operation} ×${weight}`,
    row.key_name ?? row.key?.slice(0, HASH_CHARS) ?? '-',
    row.model ?? '-',
    row.provider ?? '-',
    row.duration_ms === null ? '?' : row.duration_ms.toFixed(1),
    row.cost_usd === null ? '-' : String(row.cost_usd),
    error === null ? '-' : limit === null ? error : `${error} (${limit})`,
    row.request_id,
    reasonOf(row),
  ]
}

type Facts = Readonly<Record<string, string | number>>

/** The cause of a failed call and its fix; empty for a call that succeeded. */
function reasonOf({ reason, error_type: error }: RequestShape): string {
  if (error === null) return ''
  const recorded = reason === null ? '' : reasonText(reason)
  const facts = reason?.facts ?? {}
  // Issues state what was expected, and refusals for lack of money name the remedies.
  if (reason !== null && recorded !== '' && reason.issues.length > 0)
    return reason.message ?? `${textFrom(error, ownerIn(facts)).replace(/\.$/, '')}: ${recorded}`
  if (recorded !== '' && ('max_cost' in facts || error === 'cost_unbounded')) return recorded
  const text = recorded === '' ? textFrom(error, facts) : recorded
  const fix = failureWords(error)?.remedy
  const { variables } = facts
  const cure = variables === undefined ? fix : `Set ${variables}.`
  return `${text.replace(/\.?$/, '.')}${cure === undefined ? '' : ` Fix: ${cure}`}`
}

/** The owner of a spending limit, which the text of a failure may name. */
function ownerIn({ scope }: Facts): Facts {
  return scope === undefined ? {} : { scope }
}

/** The text of the failure with the recorded facts; the type of the error when the record lacks a fact that the text names. */
function textFrom(error: string, recorded: Facts): string {
  const facts = Object.entries(recorded)
  const name = FAILURE_NAMES.find((one) => one === error)
  const fields = { ...recorded, what: COUNTED[recorded['limit_kind'] ?? ''] ?? '{what}' }
  // The log does not record how long the caller was asked to wait.
  const text = name === undefined ? error : textOf({ name, fields }).replace('; try again in {retry} s', '')
  const isWhole = !/\{\w+\}/.test(text)
  const more = facts.filter(([, value]) => !isWhole || !text.includes(String(value)))
  const shown = more.map(([fact, value]) => `${fact} ${value}`).join(', ')
  return shown === '' ? (isWhole ? text : error) : `${isWhole ? text.replace(/\.$/, '') : error} (${shown})`
}

/** Names of the things that a rate limit counts, by `limit_kind`. */
const COUNTED: Readonly<Record<string, string>> = {
  requests: 'requests per minute',
  tokens: 'tokens per minute',
  parallel: 'parallel calls',
}

const FAILURE_NAMES = Object.keys(FAILURES) as readonly FailureName[]

/** Milliseconds between two reads. Decision. */
export const LOGS_LOOK_MS = 1_000
/**
 * Milliseconds by which the row of a call may appear later than the row of a call that ended after it: each
 * front writes its rows in batches. Decision.
 */
export const LOGS_LATE_MS = 5_000

interface FollowInput {
  /** Rows that ended at this instant or later, newest first, with all pages. */
  find(from: string): Promise<readonly LoggedRequest[]>
  /** @returns false: stop following */
  pause(ms: number): Promise<boolean>
  /** Unix milliseconds. */
  now(): number
}

/** Rows as they are written, each once. Rows of one read are in the order in which their calls ended. */
export async function* followed({ find, pause, now }: FollowInput): AsyncGenerator<readonly LoggedRequest[]> {
  let seen = new Set<string>()
  for (let fromMs = now(); ;) {
    const rows = await find(new Date(fromMs).toISOString())
    const fresh = rows.filter((row) => !seen.has(idOf(row)))
    // Rows too old to be found again are dropped.
    seen = new Set(rows.map(idOf))
    if (fresh.length > 0) yield fresh.reverse()
    fromMs = Math.max(fromMs, now() - LOGS_LATE_MS)
    if (!(await pause(LOGS_LOOK_MS))) return
  }
}

function idOf({ batch, n }: LoggedRequest): string {
  return `${batch}-${n}`
}
