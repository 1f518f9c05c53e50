import type { Failure } from '../failures.ts'

/** Told where the caller's organization has too much that it does not read. C2. */
export const UNREAD: Failure = {
  name: 'busy',
  retryAfterS: 1,
  detail: 'Your organization has many answers that were not read yet: read them, or close their connections.',
}
