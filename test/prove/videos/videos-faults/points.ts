/** Where a process of the proof kills itself, put around the ports of the real parts. */
import { writeSync } from 'node:fs'
import { ok } from '../../../../src/schemas/failures.ts'
import { VIDEO_RANKS, videoRankOf } from '../../../../src/schemas/videos/video-jobs.ts'
import type { Egress } from '../../../../src/server/ports/egress/egress.ts'
import type { Storage } from '../../../../src/server/ports/files/storage.ts'
import type { VideoProvider, VideoProviders } from '../../../../src/server/ports/videos/video-providers.ts'
import type { VideoWork } from '../../../../src/server/ports/videos/video-work.ts'
import type { VideoJobs, VideoViews } from '../../../../src/server/ports/videos/videos.ts'
import type { Deliveries } from '../../../../src/server/ports/webhooks/webhooks.ts'

/**
 * Each with how often a run surely comes by. `in_commit`: while the transaction runs, which is cut with its
 * connection. `after_write`: the request may have left, and no answer is read.
 */
export const POINTS = {
  'accept.before_commit': 6,
  'accept.in_commit': 6,
  'accept.before_view': 1,
  'accept.after_commit': 6,
  'claim.after': 1,
  'submit.before_row': 6,
  'submit.after_row': 6,
  'submit.after_write': 6,
  'submit.after_answer': 6,
  'submit.after_taken_row': 6,
  'lookup.after_list': 2,
  'lookup.after_taken_back': 2,
  'poll.after_made': 6,
  'made.after_row': 6,
  'store.before_publish': 6,
  'store.after_publish': 6,
  'end.before_commit': 6,
  'end.in_commit': 6,
  'end.after_commit': 6,
  'end.before_view': 6,
  'cancel.in_commit': 3,
  'cancel.after_commit': 1,
  'webhook.before_send': 6,
  'webhook.after_send': 6,
  'webhook.after_book': 6,
} as const
export type Point = keyof typeof POINTS

export interface Fault {
  readonly point: Point | 'none'
  /** Which time. */
  readonly nth: number
  /** Milliseconds from the beginning of a step that is cut until its end. */
  readonly afterMs: number
}

export const NO_FAULT: Fault = { point: 'none', nth: 0, afterMs: 0 }

/** What a process says right before its end. */
export interface Died {
  readonly what: 'died'
  readonly run: string
}

export class FaultPoints {
  #fault: Fault = NO_FAULT
  #left = 0
  #run = ''

  /** From now on. */
  arm(run: string, fault: Fault): void {
    this.#run = run
    this.#fault = fault
    this.#left = fault.nth
  }

  /** A front's. */
  jobs(real: VideoJobs): VideoJobs {
    return {
      ...real,
      accept: async (input) => {
        this.#at('accept.before_commit')
        const answer = real.accept(input)
        this.#soon('accept.in_commit')
        const accepted = await answer
        if (accepted.ok) this.#at('accept.after_commit')
        return accepted
      },
      cancel: (workspaceId, id) => {
        const answer = real.cancel(workspaceId, id)
        this.#soon('cancel.in_commit')
        return answer
      },
    }
  }

  /** A front's: what it shows are acceptances, many at once, and cancellations. */
  frontViews(real: VideoViews): VideoViews {
    return {
      ...real,
      put: (view) => {
        this.#at('cancel.after_commit')
        return real.put(view)
      },
      putAll: (views) => {
        this.#at('accept.before_view')
        return real.putAll(views)
      },
    }
  }

  runnerViews(real: VideoViews): VideoViews {
    return {
      ...real,
      put: (view) => {
        if (videoRankOf(view.status) === VIDEO_RANKS - 1) this.#at('end.before_view')
        return real.put(view)
      },
    }
  }

  work(real: VideoWork): VideoWork {
    return {
      ...real,
      claim: async (room, leaseMs) => {
        const claims = await real.claim(room, leaseMs)
        if (claims.length > 0) this.#at('claim.after')
        return claims
      },
      submitting: (claim, times) => {
        this.#at('submit.before_row')
        return this.#then('submit.after_row', real.submitting(claim, times))
      },
      submitted: (claim, upstreamId) =>
        this.#then('submit.after_taken_row', real.submitted(claim, upstreamId)),
      unsubmitted: (claim) => this.#then('lookup.after_taken_back', real.unsubmitted(claim)),
      made: (claim, made) => this.#then('made.after_row', real.made(claim, made)),
      end: (claim, end) => {
        this.#at('end.before_commit')
        const answer = real.end(claim, end)
        this.#soon('end.in_commit')
        return this.#then('end.after_commit', answer)
      },
    }
  }

  providers({ all, of }: VideoProviders): VideoProviders {
    const wrapped = new Map(all.map((provider) => [provider, this.#provider(provider)]))
    return {
      all: [...wrapped.values()],
      of: (target) => {
        const found = of(target)
        return found === null ? null : (wrapped.get(found) ?? null)
      },
    }
  }

  #provider(real: VideoProvider): VideoProvider {
    return {
      slug: real.slug,
      video: real.video,
      submit: async (order, times) => {
        const mayWrite = (): boolean => {
          const may = times.mayWrite()
          if (may) this.#soon('submit.after_write')
          return may
        }
        const answer = await real.submit(order, { ...times, mayWrite })
        if (answer.kind === 'taken') this.#at('submit.after_answer')
        return answer
      },
      poll: async (...asked) => {
        const polled = await real.poll(...asked)
        if (polled.kind === 'made') this.#at('poll.after_made')
        return polled
      },
      lookup: (...asked) => this.#then('lookup.after_list', real.lookup(...asked)),
      download: (...asked) => real.download(...asked),
      cancel: (...asked) => real.cancel(...asked),
    }
  }

  storage(real: Storage): Storage {
    return {
      ...real,
      publish: (...asked) => {
        this.#at('store.before_publish')
        return this.#then('store.after_publish', real.publish(...asked))
      },
    }
  }

  /** Of the sender of webhooks alone. */
  egress(real: Pick<Egress, 'vetted'>): Pick<Egress, 'vetted'> {
    return {
      vetted: (destination) => {
        const way = real.vetted(destination)
        if (!way.ok) return way
        const { value } = way
        return ok({
          call: (request) => value.call(request),
          check: (...asked) => value.check(...asked),
          exchange: (request) => {
            this.#at('webhook.before_send')
            return this.#then('webhook.after_send', value.exchange(request))
          },
        })
      },
    }
  }

  deliveries(real: Deliveries): Deliveries {
    return { ...real, book: (...asked) => this.#then('webhook.after_book', real.book(...asked)) }
  }

  async #then<T>(point: Point, step: Promise<T>): Promise<T> {
    const answer = await step
    this.#at(point)
    return answer
  }

  #at(point: Point): void {
    if (this.#isNow(point)) die(this.#run)
  }

  /** A moment after the step was begun, wherever it is then. */
  #soon(point: Point): void {
    const run = this.#run
    if (this.#isNow(point)) setTimeout(() => die(run), this.#fault.afterMs)
  }

  #isNow(point: Point): boolean {
    return point === this.#fault.point && --this.#left === 0
  }
}

function die(run: string): void {
  const last: Died = { what: 'died', run }
  writeSync(1, `${JSON.stringify(last)}\n`)
  process.kill(process.pid, 'SIGKILL')
}
