import type { Failure } from '../failures.ts'

/** The failure of a call whose organization has too many unread answers. C2. */
export const UNREAD: Failure = {
  name: 'busy',
  retryAfterS: 1,
  detail: 'Your organization has many answers that were not read yet: read them, or close their connections.',
}
