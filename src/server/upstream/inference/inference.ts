import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  ECHO_CALLS_MAX,
  ECHO_ORGANIZATION_CALLS_MAX,
  ECHO_TURN_BATCHES_MAX,
} from '../../../schemas/inference/inference-limits.ts'
import { costNano } from '../../../schemas/money/costs.ts'
import type {
  Inference,
  InferenceEnd,
  InferenceJob,
  InferencePlan,
  InferenceSink,
} from '../../ports/inference/inference.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { CostBound } from '../../ports/money/money.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { LoopTurns } from '../../structures/loop-turns.ts'
import { LocalCalls } from '../local-calls.ts'
import { echo, isEcho } from './echo.ts'

/** Plans the calls of models that write. */
export function createInference(jobs: ShortJobs): Inference {
  const calls = new LocalCalls({ max: ECHO_CALLS_MAX, ofOneMax: ECHO_ORGANIZATION_CALLS_MAX })
  const deps = { jobs, turns: new LoopTurns(ECHO_TURN_BATCHES_MAX) }
  return {
    plan(job: InferenceJob): Outcome<InferencePlan> {
      const endpoint = job.model.endpoints.find(isEcho)
      if (endpoint === undefined)
        return fail('model_unfit', { detail: 'Chat is served by `sluice/echo-1` alone so far.' })
      // The model repeats what the digest has.
      job.request.source.release()
      const run = async (sink: InferenceSink): Promise<Outcome<InferenceEnd>> => {
        const end = calls.begin(job.caller.organizationId)
        if (end === null) return fail('busy', { retryAfterS: 1 })
        return echo({ ...job, endpoint }, deps, sink).finally(end)
      }
      return ok({ bound: boundOf(job, endpoint), run })
    },
  }
}

/** The most that a call may cost. A missing price is not the price 0. C40, D25. */
function boundOf({ request }: InferenceJob, endpoint: Endpoint): CostBound {
  if (endpoint.isUnpriced) return { paidNano: null, anyNano: null, unpriced: endpoint.tag }
  const nano = costNano(request.promptWords, endpoint)
  return { paidNano: nano, anyNano: nano }
}
