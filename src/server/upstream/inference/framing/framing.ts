import { ok, type Outcome } from '../../../../schemas/failures.ts'
import type { TextProtocol } from '../../../../schemas/models/text-models.ts'
import { owned } from '../../../../schemas/values/lent-bytes.ts'
import type { Caller } from '../../../../schemas/values/callers.ts'
import type { ByteReader } from '../../../ports/byte-streams.ts'
import type { AnswerRoom } from '../../../ports/egress/egress.ts'
import type { ShortJobs } from '../../../ports/short-jobs.ts'
import type { LoopBudget } from '../../../structures/loop-budget.ts'
import { movable } from '../../movable.ts'
import { isTranslatedHere } from '../translated/translation-job.ts'
import { FramedBody } from './framed-body.ts'
import { reframe } from '../../../../dialects/reframe.ts'
import type { Reframed } from '../../../../dialects/parts.ts'

interface FramingDeps {
  readonly jobs: ShortJobs
  readonly loop: LoopBudget
}

/** Brings the bodies of a provider into the form that was asked for: small ones on the loop. D14, D22. */
export class Framing {
  readonly #protocol: TextProtocol
  readonly #deps: FramingDeps

  constructor(protocol: TextProtocol, deps: FramingDeps) {
    this.#protocol = protocol
    this.#deps = deps
  }

  /** The whole answer that events say. Failures: those of the pool of short jobs. */
  answer(
    events: Uint8Array,
    more: { readonly caller: Caller; readonly endsAt: number },
  ): Promise<Outcome<Reframed>> {
    return this.#made('answer', events, more)
  }

  /**
   * A body that was asked for as a stream.
   * @param roomOf of the front's budget, for a body that turns out to be a whole answer
   */
  stream(body: ByteReader, caller: Caller, roomOf: (caller: Caller) => AnswerRoom): ByteReader {
    return new FramedBody(body, {
      room: () => roomOf(caller),
      // The work goes on when the caller has left, since the answer may be charged.
      events: (json) => this.#made('events', json, { caller }),
    })
  }

  async #made(
    to: 'answer' | 'events',
    bytes: Uint8Array,
    more: { readonly caller: Caller; readonly endsAt?: number },
  ): Promise<Outcome<Reframed>> {
    const { jobs, loop } = this.#deps
    const protocol = this.#protocol
    if (isTranslatedHere(bytes))
      return ok(loop.booked(more.caller.organizationId, () => reframe({ protocol, to, bytes })))
    const moved = owned(bytes)
    return jobs.run('reframe', { protocol, to, bytes: moved }, { ...more, transfer: movable(moved) })
  }
}
