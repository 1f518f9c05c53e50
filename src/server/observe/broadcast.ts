import { BROADCAST_POST_MS_MAX } from '../../schemas/limits/limits.ts'
import type { Trace } from '../../schemas/trace.ts'
import type { Log } from '../ports/observe.ts'

/**
 * Posts JSON to the operator's broadcast address; resolves with true when the address accepted it. The post
 * should end by itself within BROADCAST_POST_MS_MAX.
 */
export type BroadcastPost = (url: string, json: Uint8Array) => Promise<boolean>

export interface BroadcastOptions {
  readonly url: string
  readonly post: BroadcastPost
  readonly log: Log
  /** Called with the outcome of every trace object. */
  readonly count?: (outcome: 'sent' | 'dropped' | 'failed', count: number) => void
  readonly epochNow?: () => number
  readonly flushMs?: number
  readonly postMsMax?: number
}

export interface Broadcast {
  /** Queues a trace; never waits and never fails. When its queue is full, the broadcast drops the trace and counts it. */
  offer(
    trace: Trace,
    call: {
      readonly requestId: string
      readonly operation: string
      readonly model: string
      readonly sessionId: string | null
    },
  ): void
  /** Posts the queued traces once and stops. */
  close(): Promise<void>
}

/** Trace objects that wait at most. Decision. */
const QUEUE_COUNT_MAX = 5_000
/** Bytes of trace objects that wait at most. Decision. */
const QUEUE_BYTES_MAX = 8 * 1024 * 1024
/** Bytes of one trace object. Decision. */
const TRACE_BYTES_MAX = 64 * 1024
/** Trace objects of one post. Decision. */
const BATCH_COUNT_MAX = 200
/** Bytes of the trace objects of one post. Decision. */
const BATCH_BYTES_MAX = 512 * 1024
/** Milliseconds between two posts. */
const FLUSH_MS = 1_000
/** Times that a batch is posted before the broadcast drops it. */
const TRIES_MAX = 3

/** A queued trace object as the JSON text to send, and the size of the text in UTF-8. */
interface Waiting {
  readonly text: string
  readonly bytes: number
}

/** Opens the broadcast of trace objects: `{"traces":[{request_id, operation, model, session_id, created_at, trace}]}`. */
export function openBroadcast(options: BroadcastOptions): Broadcast {
  const {
    url,
    post,
    log,
    count = () => undefined,
    epochNow = Date.now,
    flushMs = FLUSH_MS,
    postMsMax = BROADCAST_POST_MS_MAX,
  } = options
  const queue: Waiting[] = []
  let queuedBytes = 0
  let tries = 0
  let isPosting: Promise<void> | null = null
  let isFailing = false

  const send = async (): Promise<void> => {
    const batch = takeBatch(queue)
    const isTaken = await within(
      postMsMax,
      post(url, Buffer.from(`{"traces":[${batch.map(({ text }) => text).join(',')}]}`)),
    )
    tries = isTaken ? 0 : tries + 1
    if (!isTaken && !isFailing) log.warn('broadcast_failing', { waiting: queue.length })
    if (isTaken && isFailing) log.info('broadcast_back')
    isFailing = !isTaken
    if (!isTaken && tries < TRIES_MAX) return
    tries = 0
    for (const { bytes } of queue.splice(0, batch.length)) queuedBytes -= bytes
    count(isTaken ? 'sent' : 'failed', batch.length)
  }
  const flush = (): Promise<void> => {
    if (queue.length === 0) return Promise.resolve()
    isPosting ??= send().finally(() => {
      isPosting = null
    })
    return isPosting
  }
  const timer = setInterval(() => void flush(), flushMs)
  timer.unref()

  return {
    offer(trace, { requestId, operation, model, sessionId }) {
      const text = JSON.stringify({
        request_id: requestId,
        operation,
        model,
        session_id: sessionId,
        created_at: new Date(epochNow()).toISOString(),
        trace,
      })
      const bytes = Buffer.byteLength(text)
      const hasRoom = queue.length < QUEUE_COUNT_MAX && queuedBytes + bytes <= QUEUE_BYTES_MAX
      if (!hasRoom || bytes > TRACE_BYTES_MAX) return count('dropped', 1)
      queue.push({ text, bytes })
      queuedBytes += bytes
      if (queue.length >= BATCH_COUNT_MAX && tries === 0) void flush()
    },
    async close() {
      clearInterval(timer)
      await isPosting
      tries = TRIES_MAX
      while (queue.length > 0 && !isFailing) await flush()
      if (queue.length > 0) count('dropped', queue.length)
    },
  }
}

/** The oldest trace objects that fit into one post; they stay queued until the post has ended. */
function takeBatch(queue: readonly Waiting[]): readonly Waiting[] {
  let taken = 0
  let length = 0
  for (const { bytes } of queue) {
    taken += bytes
    if (length >= BATCH_COUNT_MAX || (length > 0 && taken > BATCH_BYTES_MAX)) break
    length += 1
  }
  return queue.slice(0, length)
}

/** Resolves with false when the work fails or takes longer than `ms`; a later result is ignored. */
async function within(ms: number, work: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([work.catch(() => false), late])
  } finally {
    clearTimeout(timer)
  }
}
