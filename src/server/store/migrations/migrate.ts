import type { Log } from '../../ports/observe.ts'
import { foundation } from './001-foundation.ts'
import { files } from './002-files.ts'
import { vault } from './003-vault.ts'
import { idempotency } from './004-idempotency.ts'
import { containerFiles } from './005-container-files.ts'
import { privateEndpoints } from './006-private-endpoints.ts'
import { money } from './007-money.ts'
import { videos } from './008-videos.ts'
import { presets } from './009-presets.ts'
import { directory } from './010-directory.ts'
import { operator } from './011-operator.ts'
import { retention } from './012-retention.ts'
import { containerBytes } from './013-container-bytes.ts'
import { adminPorts } from './014-admin-ports.ts'
import { keyScopes } from './015-key-scopes.ts'
import { caps } from './016-caps.ts'
import { fileExpiry } from './017-file-expiry.ts'
import { uploadFronts } from './018-upload-fronts.ts'
import { containerFronts } from './019-container-fronts.ts'
import { countedBytes } from './020-counted-bytes.ts'
import { generations } from './021-generations.ts'
import { textTokens } from './022-text-tokens.ts'
import { callLimits } from './023-call-limits.ts'
import { historyHours } from './025-history-hours.ts'
import { endpointForms } from './024-endpoint-forms.ts'
import { requests } from './026-requests.ts'
import { endpointCachePrices } from './027-endpoint-cache-prices.ts'
import { installation } from './028-installation.ts'
import { keyBursts } from './029-key-bursts.ts'
import { backedUpAt } from './030-backed-up-at.ts'
import { moneyCounts } from './031-money-counts.ts'
import { failureReasons } from './032-failure-reasons.ts'
import { generationRecords } from './033-generation-records.ts'
import type { Migration } from './migration.ts'
import { openStore, type Queryable, type Sql, type StoreOptions } from '../base/open.ts'

export const MIGRATIONS: readonly Migration[] = [
  foundation,
  files,
  vault,
  idempotency,
  containerFiles,
  privateEndpoints,
  money,
  videos,
  presets,
  directory,
  operator,
  retention,
  containerBytes,
  adminPorts,
  keyScopes,
  caps,
  fileExpiry,
  uploadFronts,
  containerFronts,
  countedBytes,
  generations,
  textTokens,
  callLimits,
  endpointForms,
  historyHours,
  requests,
  endpointCachePrices,
  installation,
  keyBursts,
  backedUpAt,
  moneyCounts,
  failureReasons,
  generationRecords,
]

/** The reason why this binary must not run on this database, with an explanation for the operator. */
export class SchemaRefused extends Error {}

export interface SchemaState {
  /** Number of the newest migration that the database has; 0 = none. */
  readonly at: number
}

/** Key of the advisory lock. Any number; all migrators of a database must agree on it. */
const LOCK_ID = 7_305_848_211
/** Milliseconds that a migrator waits for another one. */
const LOCK_MS_MAX = 300_000

interface Recorded {
  readonly number: number
  readonly name: string
  readonly oldest_binary: number
}

export interface MigrateOptions extends Pick<StoreOptions, 'connectSMax'> {
  /** Left out: all migrations of this binary. */
  readonly migrations?: readonly Migration[]
}

/**
 * Migrates the database to the schema of this binary. Each step is committed together with its record, under a
 * lock shared by all migrators, so that only complete steps remain after a crash and two migrators run one
 * after the other. Failures (thrown): SchemaRefused; the errors of Postgres for a step, which is then rolled
 * back.
 */
export async function migrate(
  url: string,
  log: Log,
  { migrations = MIGRATIONS, ...bounds }: MigrateOptions = {},
): Promise<SchemaState> {
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-migrate', ...bounds })
  const numbers: number[] = []
  try {
    for (;;) {
      const applied = await applyNext(store.sql, migrations)
      if (applied === null) return await checkSchema(store.sql, migrations)
      numbers.push(applied.number)
    }
  } finally {
    // Steps before a failed one remain applied.
    if (numbers.length > 0) log.info('store.migrated', { from: numbers[0], to: numbers.at(-1) })
    await store.close()
  }
}

/** Throws SchemaRefused for a schema that is half-migrated, not Sluice's, or needs a newer binary. Changes nothing. */
export async function checkSchema(
  sql: Queryable,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaState> {
  await checkEncoding(sql)
  const recorded = await readRecords(sql)
  const known = migrations.length
  for (const [index, row] of recorded.entries()) {
    const ours = migrations[index]
    if (row.number !== index + 1) {
      throw halfMigrated(`migration ${index + 1} is missing, but ${row.number} was applied`)
    }
    if (ours !== undefined && ours.name !== row.name) {
      throw new SchemaRefused(
        `Migration ${row.number} is \`${row.name}\` in the database, but \`${ours.name}\` in this Sluice: ` +
          'the database belongs to another program or branch.',
      )
    }
    if (row.oldest_binary > known) {
      throw new SchemaRefused(
        `The database was migrated to ${recorded.length} and needs a Sluice version that has migration ` +
          `${row.oldest_binary}; this version has only ${known}. Start the newer Sluice version.`,
      )
    }
  }
  await checkTables(sql, migrations, recorded.length)
  return { at: recorded.length }
}

async function applyNext(sql: Sql, migrations: readonly Migration[]): Promise<Migration | null> {
  return sql.begin(async (tx) => {
    await tx.unsafe(
      `SET LOCAL lock_timeout = ${LOCK_MS_MAX}; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`,
    )
    await tx`SELECT pg_advisory_xact_lock(${LOCK_ID})`
    await tx`CREATE TABLE IF NOT EXISTS schema_migrations (
      number integer PRIMARY KEY, name text NOT NULL, oldest_binary integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const { at } = await checkSchema(tx, migrations)
    const next = migrations[at]
    if (next === undefined) return null
    await next.up(tx)
    await tx`INSERT INTO schema_migrations (number, name, oldest_binary) VALUES (${next.number}, ${next.name}, ${next.oldestBinary})`
    return next
  })
}

async function checkEncoding(sql: Queryable): Promise<void> {
  const [found] = await sql<{ encoding: string }[]>`SELECT current_setting('server_encoding') AS encoding`
  if (found?.encoding === 'UTF8') return
  throw new SchemaRefused(
    `The database has the encoding ${found?.encoding ?? 'unknown'}, and Sluice needs UTF8. Create one: ` +
      "CREATE DATABASE sluice ENCODING 'UTF8' TEMPLATE template0.",
  )
}

async function readRecords(sql: Queryable): Promise<readonly Recorded[]> {
  const [there] = await sql<
    { isThere: boolean }[]
  >`SELECT to_regclass('schema_migrations') IS NOT NULL AS "isThere"`
  if (there?.isThere !== true) return []
  return sql<Recorded[]>`SELECT number, name, oldest_binary FROM schema_migrations ORDER BY number`
}

/** Tables of applied steps must exist, tables of later steps must not: a restore that stopped half-way violates this. */
async function checkTables(sql: Queryable, migrations: readonly Migration[], at: number): Promise<void> {
  for (const migration of migrations) {
    for (const table of migration.tables) {
      const [found] = await sql<{ isThere: boolean }[]>`SELECT to_regclass(${table}) IS NOT NULL AS "isThere"`
      const isThere = found?.isThere === true
      if (isThere === migration.number <= at) continue
      throw halfMigrated(
        isThere
          ? `table \`${table}\` exists, but migration ${migration.number} was not applied`
          : `table \`${table}\` is missing, but migration ${migration.number} was applied`,
      )
    }
  }
}

function halfMigrated(problem: string): SchemaRefused {
  return new SchemaRefused(
    `The database is half-migrated: ${problem}. Restore a backup, or use an empty database.`,
  )
}
