import { closeSync, linkSync, openSync } from 'node:fs'
import type { SessionJob } from '../../../src/workers/sessions/protocol.ts'
import runSession from '../../../src/workers/sessions/thread.ts'

/**
 * A session thread that is stuck in a system call, where nothing can end it, until a test opens the pipe next
 * to the file of its session; only then it makes that file, which gets a second name for the test to see.
 */
export default function runStuck(job: SessionJob | null): Promise<void> {
  if (job?.kind !== 'intake' || job.path === null) return runSession(job)
  closeSync(openSync(`${job.path}.pipe`, 'r'))
  const ended = runSession(job)
  linkSync(job.path, `${job.path}.made`)
  return ended
}
