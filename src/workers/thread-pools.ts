import { ok, type Outcome } from '../schemas/failures.ts'
import { BRIEF_SECRETS_BYTES_MAX } from '../schemas/limits/json-limits.ts'
import { BACKGROUND_JOB_MS_MAX, SHORT_JOB_MS_MAX } from '../schemas/limits/limits.ts'
import { BRIEF_HEAP_MIB, LONG_HEAP_MIB } from '../schemas/operator/memory-limits.ts'
import type { Log } from '../server/ports/observe.ts'
import type { ShortJobMore, ShortJobName, ShortJobs, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { Lane } from './lane.ts'
import { SessionPool } from './sessions/session-pool.ts'
import { bytesOf } from '../schemas/values/json-bytes.ts'

/** Milliseconds without a long job after which the threads end and free their grown heaps. Decision. */
const LONG_IDLE_MS = 60_000

export interface Pools {
  readonly jobs: ShortJobs
  /** Short jobs that wait for a thread now. */
  readonly shortJobsWaiting: number
  readonly shortJobsLoad: PoolLoad
  /** Threads for long sessions, which `createIntake` and `createUnsealing` use. Design §5. */
  readonly sessions: SessionPool
  /** Ends the threads; jobs in progress and waiting jobs answer `draining`. */
  close(): Promise<void>
}

/** Figures of the threads since the start. */
export interface PoolLoad {
  readonly threads: number
  readonly begun: number
  /** Seconds that started jobs had waited. */
  readonly waitS: number
  /** Seconds that threads were busy with ended jobs. */
  readonly busyS: number
}

export interface PoolOptions {
  /** Threads of each lane: the lane of jobs below a millisecond, and the lane of the others. */
  readonly shortThreads: number
  readonly sessionThreads: number
  /**
   * Short jobs of a lane that may wait for a thread; one more is `busy`, taken from the organization with the
   * most of them.
   */
  readonly queueMax: number
  /** Short jobs of one organization that may wait; as many as of all when omitted; one more is `busy`. */
  readonly organizationQueueMax?: number
  /** Milliseconds of one short job; then its thread is ended and another is started. */
  readonly jobMsMax?: number
  /** Milliseconds without a job after which a thread for jobs above a millisecond ends. */
  readonly idleMs?: number
  /**
   * True in a runner: short jobs have lower priority than fronts on the same machine, and more time; all
   * threads start with their first job.
   */
  readonly isBackground?: boolean
  /** No thread starts before the first job: an idle process has the memory of no thread. */
  readonly isLazy?: boolean
  readonly log: Pick<Log, 'error'>
}

/**
 * Opens the worker threads of a front or a runner. Design §2, §5.
 * @param here runs a prompt job on the calling thread; this module does not load the tasks, which a process
 * without such jobs has no memory for
 */
export function openThreads(options: PoolOptions, here: ShortJobs['here'] = runsNothing): Pools {
  const { sessionThreads, log } = options
  const jobs = new ShortPool(options, here)
  const sessions = new SessionPool({ threadCount: sessionThreads, log })
  const close = async (): Promise<void> => {
    await Promise.all([jobs.close(), sessions.close()])
  }
  return {
    jobs,
    sessions,
    close,
    get shortJobsWaiting() {
      return jobs.waiting
    },
    get shortJobsLoad() {
      return jobs.load
    },
  }
}

function runsNothing(name: string): never {
  throw new Error(`this process runs ${name} only on its threads`)
}

/** Two lanes: a caller that needs a secret does not wait for the body of another caller. */
class ShortPool implements ShortJobs {
  readonly here: ShortJobs['here']
  readonly #brief: Lane
  readonly #long: Lane
  readonly #threads: number

  constructor(options: PoolOptions, here: ShortJobs['here']) {
    this.here = here
    const {
      shortThreads: threadCount,
      queueMax,
      organizationQueueMax = queueMax,
      isBackground = false,
      isLazy = false,
      log,
    } = options
    const { jobMsMax = isBackground ? BACKGROUND_JOB_MS_MAX : SHORT_JOB_MS_MAX, idleMs = LONG_IDLE_MS } =
      options
    const common = { threadCount, queueMax, organizationQueueMax, jobMsMax, isBackground, isLazy, log }
    this.#brief = new Lane({ ...common, heapMib: BRIEF_HEAP_MIB, idleMs: isBackground ? idleMs : null })
    this.#long = new Lane({ ...common, heapMib: LONG_HEAP_MIB, idleMs })
    this.#threads = 2 * threadCount
  }

  async run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more: ShortJobMore,
  ): Promise<Outcome<ShortJobTypes[N]['out']>> {
    const lane = isBriefJob(name, input) ? this.#brief : this.#long
    const outcome = await lane.run({ name, input }, more)
    return outcome.ok ? ok(outcome.value as ShortJobTypes[N]['out']) : outcome
  }

  get waiting(): number {
    return this.#brief.waiting + this.#long.waiting
  }

  get load(): PoolLoad {
    const [brief, long] = [this.#brief.load, this.#long.load]
    return {
      threads: this.#threads,
      begun: brief.begun + long.begun,
      waitS: (brief.waitMs + long.waitMs) / 1_000,
      busyS: (brief.busyMs + long.busyMs) / 1_000,
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#brief.close(), this.#long.close()])
  }
}

type IsBrief<N extends ShortJobName> = (input: ShortJobTypes[N]['in']) => boolean

/** Jobs that may take less than a millisecond, apart from the tasks: who queues them loads no task. */
const BRIEF: { readonly [N in ShortJobName]?: IsBrief<N> } = {
  // At most ECHO_UNITS_MAX of text.
  echo: () => true,
  seal_secrets: ({ secrets }) => areBrief(secrets.map(({ value }) => value)),
  open_secret: ({ sealed }) => areBrief([sealed]),
  copy_secrets: ({ from }) => areBrief(from.map(({ sealed }) => sealed)),
}

/** Returns whether a job takes less than a millisecond. */
export function isBriefJob<N extends ShortJobName>(name: N, input: ShortJobTypes[N]['in']): boolean {
  const isBrief: IsBrief<N> | undefined = BRIEF[name]
  return isBrief?.(input) === true
}

function areBrief(values: readonly Uint8Array[]): boolean {
  return bytesOf(values) <= BRIEF_SECRETS_BYTES_MAX
}
