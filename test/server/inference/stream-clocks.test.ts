/** The clocks that a provider's stream gets at the gate. D17. */
import t from 'tap'
import { fail } from '../../../src/schemas/failures.ts'
import type { InferenceJob } from '../../../src/server/ports/inference/inference.ts'
import type { CallableModel, Endpoint, EndpointText } from '../../../src/server/ports/models/models.ts'
import type { ShortJobs } from '../../../src/server/ports/short-jobs.ts'
import type { LinkStreamAttempt, ProviderLink } from '../../../src/server/upstream/link.ts'
import { CallMedia, type MediaEgress } from '../../../src/server/upstream/inference/inline/call-media.ts'
import { WritingEndpoint } from '../../../src/server/inference/send.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import type { AnswerRoom } from '../../../src/server/ports/egress/egress.ts'
import type { Caller } from '../../../src/schemas/values/callers.ts'
import { LoopBudget } from '../../../src/server/structures/loop-budget.ts'
import { Drains } from '../../../src/server/inference/relay.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'
import { wiresOf } from '../../../src/server/inference/inference.ts'
import type { InferenceSink } from '../../../src/server/upstream/inference/protocol.ts'

/** A stream needs none. */
const NO_ROOM = (caller: Caller): AnswerRoom => new AnswerBudget(0).room(caller)
const NO_JOBS = {} as ShortJobs
const NO_EGRESS = {} as MediaEgress

/** What the gate is asked for, of an endpoint with these times. */
async function askedOf(times: Pick<EndpointText, 'firstOutputMs' | 'stallMs'>): Promise<LinkStreamAttempt> {
  const asked: LinkStreamAttempt[] = []
  const link = {
    stream(_path: string, _body: unknown, attempt: LinkStreamAttempt) {
      asked.push(attempt)
      return Promise.resolve(fail('upstream_failed'))
    },
  } as unknown as ProviderLink
  const rest = { speaks: ['chat'], isStrict: false, onLeave: 'cancel' } as const
  const text = { ...times, ...rest } as unknown as EndpointText
  const endpoint = { upstreamModel: 'm', provider: { slug: 'acme' }, text } as Endpoint
  const { digest, body } = keptChat(
    '{"model":"acme/m","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
  )
  const job = {
    request: { ...digest, source: body },
    limits: null,
    deadlineAt: Infinity,
    call: { signal: new AbortController().signal },
  } as unknown as InferenceJob
  const chat = new WritingEndpoint({
    endpoint,
    text,
    link,
    wireOf: wiresOf(endpoint, text, { jobs: NO_JOBS, loop: new LoopBudget() }),
    drains: new Drains(),
    loop: new LoopBudget(),
    roomOf: NO_ROOM,
  })
  const model = { id: 'acme/m' } as CallableModel
  const media = new CallMedia(NO_EGRESS, job)
  await chat.write({
    job,
    model,
    sink: {} as InferenceSink,
    begin: () => undefined,
    ready: () => 1_000,
    media,
    mayChangeModel: () => false,
  })
  const [attempt] = asked
  if (attempt === undefined) throw new Error('nothing was asked')
  return attempt
}

t.test('a model may think for its first-output limit or stall limit, whichever is longer', async (t) => {
  t.match(await askedOf({ firstOutputMs: 600_000, stallMs: 30_000 }), { beginsBy: 601_000, stallMs: 600_000 })
  t.match(await askedOf({ firstOutputMs: 30_000, stallMs: 600_000 }), { beginsBy: 31_000, stallMs: 600_000 })
})
