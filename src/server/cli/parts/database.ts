import { userInfo } from 'node:os'
import { InvalidArgumentError } from 'commander'
import { textOf, type Outcome } from '../../../schemas/failures.ts'
import { NAME_CHARS_MAX } from '../../../schemas/workspaces/workspace-limits.ts'
import { hintOf, nearest, shown } from '../../../schemas/nearest.ts'
import type { Hints } from '../../ports/keys/keys.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { publishHint } from '../../redis/hints.ts'
import { openState } from '../../redis/open.ts'
import { checkSchema, MIGRATIONS } from '../../store/migrations/migrate.ts'
import { openStore, type Store } from '../../store/base/open.ts'
import { stderrLog } from './stderr-log.ts'
import { VERB_CONNECT_S_MAX, withStores, type StoreAddresses } from './stores.ts'
import { CliFailure } from './verb.ts'

/** Milliseconds that a verb waits for Redis; without Redis the fronts find its change by polling. */
const HINT_WAIT_MS_MAX = 500

/** The command line's handle on the database: the store with everything that a verb needs to read and change rows. */
export interface DatabaseHandle {
  readonly store: Store
  readonly publish: Hints['publish']
  /** The actor for the audit log. */
  readonly by: ChangedBy
  /** Requests per minute of keys that are created without a limit; null = none. */
  readonly rateLimitRpm: number | null
}

/**
 * Opens the stores for one verb, and refuses a schema of another version. Throws CliFailure. Redis is connected
 * before the verb changes anything: a hint must be sent as soon as its change has committed.
 */
export async function withDatabase<T>(use: (database: DatabaseHandle) => Promise<T>): Promise<T> {
  return withStores(async ({ databaseUrl, redis }, { rateLimitRpm, caps }) => {
    const store = openStore({
      url: databaseUrl.reveal(),
      poolMax: 2,
      applicationName: 'sluice-cli',
      connectSMax: VERB_CONNECT_S_MAX,
      caps,
    })
    const publisher = redis === null ? null : openPublisher(redis)
    try {
      const [{ at }] = await Promise.all([checkSchema(store.sql), publisher?.isConnected])
      if (at < MIGRATIONS.length)
        throw new CliFailure('the database is not migrated yet: start the node, or run `sluice migrate`')
      const publish = publisher?.publish ?? (() => Promise.resolve())
      return await use({
        store,
        publish,
        by: { actor: { kind: 'cli', id: systemUser() }, requestId: null },
        rateLimitRpm,
      })
    } finally {
      await publisher?.close()
      await store.close()
    }
  })
}

/** Name of the system's user; null in a container whose user has no name. */
function systemUser(): string | null {
  try {
    return userInfo().username
  } catch {
    return null
  }
}

/** The text by which a verb looked for something. */
export interface Lookup {
  readonly name: string
  /** The verb that lists the existing ones, as `keys list`. */
  readonly list: string
  /** Existing names, if there are any. */
  readonly among?: readonly string[]
}

/** The value, or a CliFailure with the failure's text. @param lookup named in the failure, with the remedy, when nothing was found */
export function need<T>(outcome: Outcome<T>, lookup?: Lookup): T {
  if (outcome.ok) return outcome.value
  const { failure } = outcome
  const isNamed = lookup === undefined || failure.detail !== undefined || !failure.name.endsWith('_unknown')
  throw new CliFailure(isNamed ? textOf(failure) : `${textOf(failure)} ${remedyOf(lookup)}`)
}

/** A remedy: the given name, similar names, and the verb that lists the existing ones. */
export function remedyOf({ name, list, among = [] }: Lookup): string {
  return `${shown(name)} was not found.${hintOf(nearest(name, among))} Run \`sluice ${list}\` to list valid values.`
}

export function nameOf(text: string): string {
  const name = text.trim()
  if (name === '' || [...name].length > NAME_CHARS_MAX)
    throw new InvalidArgumentError(`Expected 1 to ${NAME_CHARS_MAX} characters.`)
  return name
}

interface Publisher {
  /** True when Redis could be reached in time. */
  readonly isConnected: Promise<boolean>
  readonly publish: Hints['publish']
  close(): Promise<void>
}

/** Opens the sender of hints. The change succeeds even if its hint cannot be sent: every front also polls. */
function openPublisher(redis: NonNullable<StoreAddresses['redis']>): Publisher {
  const state = openState({
    log: stderrLog,
    ...('url' in redis ? { url: redis.url.reveal() } : { url: null, socketPath: redis.socketPath }),
  })
  return {
    isConnected: state.whenReachable(HINT_WAIT_MS_MAX),
    publish: (change) => publishHint(state, change),
    close: () => state.close(),
  }
}
