import type { Failure } from '../failures.ts'

/** The failure of a call whose organization has too many unread answers. */
export const UNREAD: Failure = {
  name: 'busy',
  retryAfterS: 1,
  detail:
    'Your organization has too many answers that its clients do not read: read the answers or close their connections.',
}
