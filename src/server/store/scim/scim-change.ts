import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { Store, Transaction } from '../base/open.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import { lockDirectory } from './lock.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** Runs a transaction under the directory's lock; a refused change is rolled back. */
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
