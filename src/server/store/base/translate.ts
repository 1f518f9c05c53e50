import postgres from 'postgres'
import { fail, type Outcome } from '../../../schemas/failures.ts'
import { WRONG_SESSION } from './host-choice.ts'
import { StoreSlow } from './open.ts'

/**
 * Classes of SQLSTATE that mean "not now": connection, resources, operator intervention, lock and statement
 * timeouts, and a read-only server or database, such as a demoted primary.
 */
const AWAY_STATES = /^(08|53|57|55P03|25P03|25006|28|3D)/
/** Codes of the library and the system for a server that cannot be reached. */
const AWAY_CODES = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  // ENOENT: a Unix socket disappears with its server.
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  WRONG_SESSION,
])
/** Classes for user, password and database: a wrong address does not become right by waiting. */
const WRONG_ADDRESS_STATES = /^(28|3D)/
/** SQLSTATE of a violated unique constraint. */
const UNIQUE_VIOLATION = '23505'
/** SQLSTATE of a lock that another transaction held for longer than the lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03'

/** True when the store cannot be reached, or cannot answer now; any other error is a bug. */
export function isAway(problem: unknown): boolean {
  if (problem instanceof StoreSlow) return true
  if (problem instanceof postgres.PostgresError) return AWAY_STATES.test(problem.code)
  if (problem instanceof AggregateError) return problem.errors.some(isAway)
  return AWAY_CODES.has((problem as NodeJS.ErrnoException | null)?.code ?? '')
}

/** True when another transaction held a lock for longer than the store waits. */
export function isLockSlow(problem: unknown): boolean {
  return problem instanceof postgres.PostgresError && problem.code === LOCK_NOT_AVAILABLE
}

/** True when waiting may help: Postgres is starting or recovering. */
export function isComingUp(problem: unknown): boolean {
  if (problem instanceof AggregateError) return problem.errors.some(isComingUp)
  const isWrong = problem instanceof postgres.PostgresError && WRONG_ADDRESS_STATES.test(problem.code)
  return isAway(problem) && !isWrong
}

/** @returns the name of the violated unique constraint, or null */
export function violatedUnique(problem: unknown): string | null {
  if (!(problem instanceof postgres.PostgresError) || problem.code !== UNIQUE_VIOLATION) return null
  return problem.constraint_name ?? ''
}

/** Runs a repository's work; an unavailable store becomes `store_unavailable`; any other error, which is a bug, is thrown again. */
export async function reach<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work()
  } catch (problem) {
    if (!isAway(problem)) throw problem
    return fail('store_unavailable', { retryAfterS: 1, cause: problem })
  }
}
