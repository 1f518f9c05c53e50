import { InvalidArgumentError } from 'commander'
import { textOf, type Outcome } from '../../schemas/failures.ts'
import { NAME_CHARS_MAX } from '../../schemas/limits.ts'
import { openHints, type Hints } from '../state/hints.ts'
import { openState } from '../state/open.ts'
import { checkSchema, MIGRATIONS } from '../store/migrate.ts'
import { openStore, type Store } from '../store/open.ts'
import { stderrLog } from './stderr-log.ts'
import { withStores, type StoreAddresses } from './stores.ts'
import { CliFailure } from './verb.ts'

/** Milliseconds that a verb waits for Redis before it leaves a change to the fronts' own polls. */
const HINT_WAIT_MS_MAX = 500

/** What verbs that read and change the store's rows work with. */
export interface Admin {
  readonly store: Store
  readonly publish: Hints['publish']
}

/** Opens the stores for one verb, and refuses a schema that is not this binary's. Throws CliFailure. */
export function withAdmin<T>(use: (admin: Admin) => Promise<T>): Promise<T> {
  return withStores(async ({ databaseUrl, redis }) => {
    const store = openStore({ url: databaseUrl.reveal(), poolMax: 2, applicationName: 'sluice-cli' })
    try {
      const { at } = await checkSchema(store.sql)
      if (at < MIGRATIONS.length) throw new CliFailure('the database is not migrated yet: start the node, or run `sluice migrate`')
      return await use({ store, publish: (change) => publishOnce(redis, change) })
    } finally {
      await store.close()
    }
  })
}

/** The value, or a CliFailure with the failure's text. */
export function need<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value
  throw new CliFailure(textOf(outcome.failure))
}

/** Parses `--name` of all that has one. */
export function nameOf(text: string): string {
  const name = text.trim()
  if (name === '' || [...name].length > NAME_CHARS_MAX) throw new InvalidArgumentError(`It takes 1 to ${NAME_CHARS_MAX} characters.`)
  return name
}

/** Lines of a list for a person: columns padded to the widest. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()).join('\n')
}

/** A hint that cannot be sent is no failure of the change: every front polls. */
async function publishOnce(redis: StoreAddresses['redis'], change: Parameters<Hints['publish']>[0]): Promise<void> {
  if (redis === null) return
  const state = openState({
    log: stderrLog,
    ...('url' in redis ? { url: redis.url.reveal() } : { url: null, socketPath: redis.socketPath }),
  })
  const hints = openHints(state)
  if (await state.whenReachable(HINT_WAIT_MS_MAX)) await hints.publish(change)
  await hints.close()
  await state.close()
}
