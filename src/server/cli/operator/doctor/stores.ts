import { existsSync } from 'node:fs'
import { readPostgresUrl, type PostgresAddress } from '../../../../schemas/values/store-urls.ts'
import type { Config } from '../../../config.ts'
import { msText } from '../../../observe/load-advice.ts'
import { checkSchema, MIGRATIONS, SchemaRefused } from '../../../store/migrations/migrate.ts'
import { isReadOnly, openStore, type Queryable, type Sql, type Store } from '../../../store/base/open.ts'
import { readMark } from '../../../store/nodes/installation.ts'
import { throughPooler } from '../../../store/base/pooler.ts'
import { clusterFolderOf } from '../../../supervisor/postgres/postgres-cluster.ts'
import { shippedBinaries } from '../../../supervisor/postgres/postgres-binaries.ts'
import { readingOf, type ClockReading } from '../../../observe/clock-reading.ts'
import { deadLetters } from '../../../observe/findings.ts'
import { countDeliveries } from '../../../store/webhooks/deliveries.ts'
import { operatorOrganization } from '../../../store/operator/operator.ts'
import { readCount } from '../../../journal/kept-count.ts'
import { journalsFolder, segmentFiles } from '../../../journal/segments.ts'
import { abandoned, openJournals, type OpenJournal } from '../../../store/nodes/journals.ts'
import { stepsBehind } from '../../../store/money/money-counts.ts'
import { nodeIn } from '../../../supervisor/data-directory/data-directory.ts'
import { reasonOf } from '../../parts/reasons.ts'
import { clock } from './clock.ts'
import { bad, doubtful, type Finding, good } from './finding.ts'
import type { Look } from './look.ts'
import { missingKeys } from './root-key.ts'
import { owner } from './storage.ts'

const EXTERNAL = 'external'
/** Round trips to measure; the shortest counts, since the others include other waits. */
const TRIPS = 3
const READ_ONLY_FIX =
  'promote the server or turn off its default_transaction_read_only; if it is a replica, list all hosts in ' +
  'DATABASE_URL with target_session_attrs=read-write'

/** Checks that Postgres answers, its latency and version; then the facts in its rows. */
export async function postgres(look: Look): Promise<readonly Finding[]> {
  const { config } = look.generation
  const given = config.databaseUrl?.reveal() ?? look.runtime?.databaseUrl ?? null
  const where = placeOf(config)
  if (given === null) return [embedded(look)]
  let store
  try {
    const url = await throughPooler(given, { msMax: look.storeMsMax })
    store = openStore({ url, poolMax: 1, applicationName: 'sluice-doctor' })
    const { reached, isCurrent } = await store.within(look.storeMsMax, (sql) =>
      reach(sql, { where, ...readPostgresUrl(url) }, look),
    )
    return isCurrent ? [...reached, ...(await inRows(store, look))] : reached
  } catch (cause) {
    const place = where === EXTERNAL ? 'DATABASE_URL and the server' : "the node's log"
    return [bad('postgres', reasonOf(cause), `check ${place}`)]
  } finally {
    await store?.close()
  }
}

/** `remarks`: parameters of DATABASE_URL that Sluice ignores. */
interface Place extends Pick<PostgresAddress, 'remarks' | 'pooler'> {
  readonly where: string
}

interface Reached {
  readonly reached: readonly Finding[]
  /** True when the schema has the version of this program. */
  readonly isCurrent: boolean
}

async function reach(sql: Sql, { where, remarks, pooler }: Place, { now }: Look): Promise<Reached> {
  const { version, tripMs, reading } = await greet(sql, now)
  const schema = await migrations(sql)
  const through = pooler === null ? '' : `, through a pooler in ${pooler} mode`
  const answered = good('postgres', `${where}${through}, version ${version}, answers in ${msText(tripMs)}`)
  const readOnly = (await isReadOnly(sql))
    ? [bad('postgres', 'the database is read-only: Sluice cannot write', READ_ONLY_FIX)]
    : []
  const ignored = remarks.map((remark) =>
    doubtful('postgres', remark, 'remove this parameter from DATABASE_URL'),
  )
  return {
    reached: [answered, ...readOnly, ...ignored, clock('Postgres', reading), schema],
    isCurrent: schema.level === 'ok',
  }
}

/** Checks of rows; large or locked tables can make one fail although Postgres works. */
async function inRows(
  store: Store,
  { storeMsMax, generation: { config } }: Look,
): Promise<readonly Finding[]> {
  try {
    const mark = await store.within(storeMsMax, readMark)
    const others = await owner(config, mark)
    return await store.within(storeMsMax, async (sql) => [
      ...others,
      ...(await operator(sql, config)),
      ...(await journals(sql, config)),
      ...(await money(sql, config)),
      await webhooks(sql),
      ...(await missingKeys(sql, config)),
    ])
  } catch (cause) {
    return [
      doubtful(
        'postgres',
        `the tables could not be read: ${reasonOf(cause)}`,
        'find out what keeps the server busy (`pg_stat_activity`)',
      ),
    ]
  }
}

/** Description of where the database is. Backups need the place of the embedded one: when root runs the node, it is outside the data directory. */
function placeOf({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string {
  if (databaseUrl !== null) return EXTERNAL
  const folder = clusterFolderOf(dataDir)
  return folder === null ? 'embedded' : `embedded in ${folder}`
}

/** The embedded database runs only with the node. */
export function embedded(
  { running, generation: { config } }: Look,
  find: () => unknown = shippedBinaries,
): Finding {
  const where = placeOf(config)
  if (running !== null) return good('postgres', `${where}; the node is still starting`)
  const folder = clusterFolderOf(config.dataDir)
  if (folder !== null && !existsSync(folder)) {
    return bad(
      'postgres',
      `the data files are gone: ${folder} is missing`,
      'restore this folder, or restore a backup into a new SLUICE_DATA folder',
    )
  }
  try {
    find()
  } catch (cause) {
    return bad(
      'postgres',
      reasonOf(cause),
      'set DATABASE_URL, or install Sluice again with its optional packages',
    )
  }
  return good('postgres', `${where}; the node is not running`)
}

interface Greeting {
  readonly version: string
  readonly tripMs: number
  readonly reading: ClockReading
}

async function greet(sql: Sql, now: () => number): Promise<Greeting> {
  // The first query includes the time of the connection.
  await sql`SELECT 1`
  const trips: Greeting[] = []
  for (let nth = 0; nth < TRIPS; nth++) trips.push(await oneTrip(sql, now))
  return trips.reduce((best, one) => (one.tripMs < best.tripMs ? one : best))
}

async function oneTrip(sql: Sql, now: () => number): Promise<Greeting> {
  const [beganMs, startedAt] = [now(), performance.now()]
  const [row] = await sql<{ at: number; version: string }[]>`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at, current_setting('server_version') AS version`
  const tripMs = performance.now() - startedAt
  return {
    version: row?.version.split(' ')[0] ?? 'unknown',
    tripMs,
    reading: readingOf(row?.at ?? beganMs, { beganMs, endedMs: beganMs + tripMs }),
  }
}

async function migrations(sql: Sql): Promise<Finding> {
  try {
    const { at } = await checkSchema(sql)
    const missing = MIGRATIONS.length - at
    if (missing <= 0) return good('migrations', `all ${at} migrations are applied`)
    return doubtful(
      'migrations',
      `${missing} of ${MIGRATIONS.length} migrations are missing`,
      'start the node, or run `sluice migrate`',
    )
  } catch (cause) {
    if (!(cause instanceof SchemaRefused)) throw cause
    return bad(
      'migrations',
      cause.message,
      'set DATABASE_URL to the database of this installation, or do what the error message says',
    )
  }
}

/** Warns about webhooks that could not be delivered and are no longer retried. */
async function webhooks(sql: Queryable): Promise<Finding> {
  const counts = await countDeliveries(sql)
  const advice = deadLetters(counts)
  return advice === null
    ? good('webhooks', `webhooks waiting for an attempt: ${counts.waiting}; none was given up`)
    : doubtful('webhooks', advice.detail, advice.fix)
}

/**
 * Checks the operator's organization: a typing error in the setting locks every user out of the dashboard;
 * without the setting the oldest organization counts.
 */
async function operator(
  sql: Queryable,
  { operatorOrganization: reference }: Pick<Config, 'operatorOrganization'>,
): Promise<readonly Finding[]> {
  if (reference === null) return []
  const found = await operatorOrganization(sql, reference)
  if (found.ok)
    return [
      good('operator', `management keys of the organization ${found.value.name} can open the dashboard`),
    ]
  const which = found.failure.name === 'reference_ambiguous' ? 'several organizations' : 'no organization'
  const fix = 'set SLUICE_OPERATOR_ORGANIZATION to the id from `sluice organizations list`'
  return [
    doubtful('operator', `SLUICE_OPERATOR_ORGANIZATION matches ${which}: no key can open the dashboard`, fix),
  ]
}

/** A problem when Postgres is older than the data directory: paid calls are refused then. */
async function money(sql: Queryable, { dataDir }: Pick<Config, 'dataDir'>): Promise<readonly Finding[]> {
  const node = nodeIn(dataDir)
  const behind = node === null ? 0 : await stepsBehind(sql, { node, kept: readCount(dataDir) })
  if (behind === 0) return []
  const detail = `Postgres lacks ${behind} money entries of the data directory, as after a restore: paid calls are refused`
  return [
    bad(
      'money',
      detail,
      'compare the ledger with the bills of your providers, then run `sluice accept-restore`',
    ),
  ]
}

/**
 * Warns about nodes whose fronts hold money that no process will return: on this node, fronts whose journal
 * has no file; on other nodes, fronts that no longer run. Design §6.
 */
export async function journals(
  sql: Queryable,
  { dataDir }: Pick<Config, 'dataDir'>,
): Promise<readonly Finding[]> {
  const open = await openJournals(sql)
  const own = nodeIn(dataDir)
  const files = new Set(segmentFiles(journalsFolder(dataDir)).map(({ id }) => id))
  const gone = abandoned(open, { own, files })
  if (gone.length === 0)
    return [
      good('journals', `open journals: ${open.length}; each has a running front process or a journal file`),
    ]
  const nodes = [...new Set(gone.map(({ node }) => node))]
  return nodes.map((node) =>
    journalsFinding(
      node,
      gone.filter((one) => one.node === node),
      node === own,
    ),
  )
}

function journalsFinding(node: string, those: readonly OpenJournal[], isOwn: boolean): Finding {
  const since = those[0]?.openedAt.toISOString() ?? ''
  const what = `${those.length} open ${those.length === 1 ? 'journal' : 'journals'} (oldest from ${since})`
  const close = `run \`sluice ledger close-node ${node}\``
  if (!isOwn)
    return doubtful(
      'journals',
      `node ${node} has no running front but ${what}`,
      `start the node; if the node is lost for good, ${close}`,
    )
  const fix = those.some(({ isNodeLive }) => isNodeLive) ? `stop the node, then ${close}` : close
  return doubtful(
    'journals',
    `this node lacks the files of ${what}: the money in these journals stays reserved`,
    fix,
  )
}
