import type { PlaceMark } from '../ports/installation.ts'
import type { State } from './open.ts'

const MARK_KEY = 'sluice:installation'

/** The mark of the installation in Redis. It has no expiry; a Redis without persistence loses it. */
export function redisMark({ redis }: State): PlaceMark {
  return {
    read: () => redis.get(MARK_KEY),
    async write(mark) {
      await redis.set(MARK_KEY, mark)
    },
  }
}
