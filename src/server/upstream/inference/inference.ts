import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { ECHO_CALLS_MAX, ECHO_ORGANIZATION_CALLS_MAX } from '../../../schemas/inference/inference-limits.ts'
import type {
  Inference,
  InferenceEnd,
  InferenceJob,
  InferencePlan,
  InferenceSink,
} from '../../ports/inference/inference.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { LocalCalls } from '../local-calls.ts'
import { echo } from './echo.ts'

const ECHO = 'echo-1'
const ECHO_SLOW = 'echo-1-slow'
const FREE = { paidNano: 0, anyNano: 0 } as const

/** Plans the calls of models that write. */
export function createInference(jobs: ShortJobs): Inference {
  const calls = new LocalCalls({ max: ECHO_CALLS_MAX, ofOneMax: ECHO_ORGANIZATION_CALLS_MAX })
  return {
    plan(job: InferenceJob): Outcome<InferencePlan> {
      const endpoint = job.model.endpoints.find(isEcho)
      if (endpoint === undefined)
        return fail('model_unfit', { detail: 'Chat is served by `sluice/echo-1` alone so far.' })
      const isSlow = endpoint.upstreamModel === ECHO_SLOW
      // The model repeats what the digest has.
      job.request.source.release()
      const run = async (sink: InferenceSink): Promise<Outcome<InferenceEnd>> => {
        const end = calls.begin(job.caller.organizationId)
        if (end === null) return fail('busy', { retryAfterS: 1 })
        return echo({ ...job, isSlow }, jobs, sink).finally(end)
      }
      return ok({ bound: FREE, run })
    },
  }
}

function isEcho({ provider, upstreamModel }: Endpoint): boolean {
  return provider.protocol === 'local' && (upstreamModel === ECHO || upstreamModel === ECHO_SLOW)
}
