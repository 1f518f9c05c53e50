import type { SessionJob } from '../../../src/workers/sessions/protocol.ts'
import runSession from '../../../src/workers/sessions/thread.ts'

/** A session thread in which the session of a file called `hangs` computes for ever once it has begun. */
export default function runOrHang(job: SessionJob | null): Promise<void> {
  const ended = runSession(job)
  if (job?.kind === 'intake' && job.path?.endsWith('hangs') === true) {
    setImmediate(() => {
      for (;;);
    })
  }
  return ended
}
