import t from 'tap'
import {
  WAITING_UPLOADS_MAX,
  WAITING_WORKSPACE_UPLOADS_MAX,
  Waiters,
} from '../../../../src/server/store/base/waiters.ts'

t.test(
  'a front limits the waiting uploads of all workspaces together, and one that stops waiting frees one place',
  async (t) => {
    const waiters = new Waiters()
    const inputOf = (nth: number) => ({
      workspaceId: `w${Math.floor(nth / WAITING_WORKSPACE_UPLOADS_MAX)}`,
      reserveBytes: 1,
      idempotency: null,
    })
    const waiting = Array.from({ length: WAITING_UPLOADS_MAX }, (_, nth) => waiters.waiter(inputOf(nth)))
    t.ok(waiting.every((waiter) => waiter.enter() && waiter.enter()))
    const next = () => waiters.waiter({ ...inputOf(0), workspaceId: 'other' })
    t.notOk(next().enter())
    next().leave()
    t.notOk(next().enter())
    waiting[0]?.leave()
    waiting[0]?.leave()
    t.ok(next().enter())
    t.notOk(next().enter())
  },
)
