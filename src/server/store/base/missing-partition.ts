import postgres from 'postgres'

/** SQLSTATE of a violated check, also for a row without a partition. */
const CHECK_VIOLATION = '23514'

/**
 * True when a row had no partition to go to. A failed check has a constraint's name, and a missing partition
 * has none; the message of the server depends on its language.
 */
export function isPartitionMissing(problem: unknown): boolean {
  return (
    problem instanceof postgres.PostgresError &&
    problem.code === CHECK_VIOLATION &&
    problem.constraint_name === undefined
  )
}
