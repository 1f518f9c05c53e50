import type { VideoJobs, VideoViews } from '../../ports/videos/videos.ts'
import type { Store } from '../base/open.ts'
import { Acceptor, type AcceptorOptions } from './acceptor.ts'
import { openVideoReads } from './reads.ts'

export interface VideoJobsOptions extends Pick<AcceptorOptions, 'jobMs' | 'now'> {
  readonly store: Store
  readonly views: VideoViews
  /** Ends a job and informs runners. */
  readonly cancel: VideoJobs['cancel']
  readonly after?: AcceptorOptions['after']
}

/**
 * Video jobs of one front: accepted in batches, read by their live views, cancelled by `openVideoCancel`.
 * Design §7.
 */
export function openVideoJobs(options: VideoJobsOptions): VideoJobs {
  const acceptor = new Acceptor({ after: (ms, run) => void setTimeout(run, ms), ...options })
  return {
    accept: (input) => acceptor.accept(input),
    cancel: options.cancel,
    ...openVideoReads(options),
  }
}
