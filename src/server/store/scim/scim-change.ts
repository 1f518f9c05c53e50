import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { Store, Transaction } from '../base/open.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import { oneAtATime, lockDirectory } from './one-at-a-time.ts'
import type postgres from 'postgres'

/** Runs a transaction under the directory's lock; when the change is refused, it is rolled back. */
export async function change<T>(
  store: Store,
  by: DirectoryActor,
  work: (tx: Transaction) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  try {
    const changed = async (): Promise<Outcome<T>> =>
      ok(
        (await store.sql.begin(async (tx) => {
          await lockDirectory(tx, by.organizationId)
          const done = await work(tx)
          if (!done.ok) throw new Refused(done.failure)
          return done.value
        })) as T,
      )
    return await oneAtATime(store, { organizationId: by.organizationId, kind: 'change' }, () =>
      reach(changed),
    )
  } catch (problem) {
    if (problem instanceof Refused) return { ok: false, failure: problem.failure }
    const violated = violatedUnique(problem)
    if (violated === 'users_name_key') return fail('scim_user_taken')
    if (violated === 'scim_groups_name_key') return fail('scim_group_taken')
    throw problem
  }
}

/** Rolls back a refused change. */
class Refused extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.name)
    this.failure = failure
  }
}

/**
 * A statement whose text depends on a caller's input. As a prepared statement, each new text would stay in the memory
 * of Postgres and of this process while the connection is open: 400 filters of 60 terms took 280 MB.
 */
export function unprepared<T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
): postgres.PendingQuery<T> {
  // The library documents this option for a whole client, or for a text without parameters; it also reads the
  // option of a single query.
  ;(query as unknown as { readonly options: { prepare?: boolean } }).options.prepare = false
  return query
}
