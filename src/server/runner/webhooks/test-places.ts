import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  WEBHOOK_CALLS_MAX,
  WEBHOOK_HOST_CALLS_MAX,
  WEBHOOK_WORKSPACE_CALLS_MAX,
} from '../../../schemas/webhooks/webhook-limits.ts'
import { FairSemaphore, type Leave } from '../../structures/fair-semaphore.ts'

/** Seconds after which a caller without a place may try again. */
const RETRY_S = 1

/**
 * Places of test events under way in one front: as many for a host, for a workspace and in all as a runner has
 * for deliveries. Nothing waits for a place, since the caller can ask again. C17.
 */
export class TestPlaces {
  readonly #hosts = placesFor(WEBHOOK_HOST_CALLS_MAX)
  readonly #workspaces = placesFor(WEBHOOK_WORKSPACE_CALLS_MAX)
  #underWay = 0

  /** Failures: rate_limited, where the host or the workspace has all its places; busy, where the front has. */
  async enter(test: { readonly host: string; readonly workspaceId: string }): Promise<Outcome<Leave>> {
    if (this.#underWay >= WEBHOOK_CALLS_MAX) return fail('busy', { retryAfterS: RETRY_S })
    this.#underWay++
    const leave: Leave[] = [() => void this.#underWay--]
    const leaveAll: Leave = () => {
      for (const one of leave.splice(0)) one()
    }
    const leaveWorkspace = await this.#workspaces.enter({ tenant: test.workspaceId })
    if (leaveWorkspace !== null) leave.push(leaveWorkspace)
    const leaveHost = leaveWorkspace === null ? null : await this.#hosts.enter({ tenant: test.host })
    if (leaveHost !== null) {
      leave.push(leaveHost)
      return ok(leaveAll)
    }
    leaveAll()
    return leaveWorkspace === null
      ? refused('workspace', WEBHOOK_WORKSPACE_CALLS_MAX)
      : refused('host', WEBHOOK_HOST_CALLS_MAX)
  }
}

function refused(holder: 'host' | 'workspace', limit: number): Outcome<never> {
  const fields = { holder, limit, what: 'test webhooks in progress', retry: RETRY_S }
  return fail('rate_limited', { fields, retryAfterS: RETRY_S })
}

function placesFor(placesOfOne: number): FairSemaphore {
  return new FairSemaphore({ places: WEBHOOK_CALLS_MAX, placesOfOne, waitingMax: 0 })
}
