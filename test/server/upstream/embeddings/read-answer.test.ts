import t from 'tap'
import { shapeOf } from '../../../../src/server/upstream/embeddings/input-shape.ts'
import { parseAnswer } from '../../../../src/server/upstream/embeddings/read-answer.ts'
import { openPools } from '../../../../src/workers/pool.ts'
import { callerBy } from '../../../support/keys/callers.ts'
import { SILENT } from '../../../support/log.ts'

t.test(
  'a large answer that waits beyond the deadline is given back unread, one in time is read',
  async (t) => {
    const { jobs, close } = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 4, log: SILENT })
    t.teardown(close)
    const data = [{ object: 'embedding', index: 0, embedding: Array(100_000).fill(0.5) }]
    const outcomeAt = async (deadlineAt: number) => {
      let released = 0
      const body = Uint8Array.from(Buffer.from(JSON.stringify({ data })))
      const answer = { status: 200, isSuccess: true, retryAfter: null, body, release: () => void released++ }
      const request = { model: 'm', input: 'x' }
      const call = new AbortController()
      call.abort()
      const attempt = {
        request,
        shape: shapeOf('x'),
        endsAt: Infinity,
        deadlineAt,
        caller: callerBy('k'),
        call,
      }
      return { outcome: await parseAnswer('openai', answer, { attempt, jobs }), released }
    }
    t.match(await outcomeAt(performance.now()), {
      outcome: { ok: false, failure: { name: 'deadline_exceeded' } },
      released: 1,
    })
    t.match(await outcomeAt(Infinity), { outcome: { ok: true }, released: 0 })
  },
)
