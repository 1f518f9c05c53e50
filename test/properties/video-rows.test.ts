/**
 * Runners that overtake each other, stall and come back while jobs are cancelled. Tests which writes the
 * guards of the rows allow.
 */
import t from 'tap'
import { VIDEO_STATES } from '../../src/schemas/videos/video-jobs.ts'
import type { ClaimedVideo, VideoEnd, VideoWork } from '../../src/server/ports/videos/video-work.ts'
import { checkLedger } from '../../src/server/store/money/repair/check.ts'
import { openVideoCancel } from '../../src/server/store/videos/cancel.ts'
import { openVideoWork } from '../../src/server/store/videos/work.ts'
import { imbalances } from '../support/money/money.ts'
import { must } from '../support/must.ts'
import { randomOf } from '../support/wire/rate-simulation.ts'
import { clip, CONTEXT, openVideoStand, type VideoStand } from '../support/videos/video-rows.ts'

const SEEDS = [1, 2, 3]
const RUNNERS = 5
const STEPS = 120
/** Most steps of a runner when too little has happened: chance decides which runner takes which job. */
const STEPS_MAX = 20 * STEPS
const JOBS = 30
/** With fewer completed jobs the run would test too little of the work after an end. */
const COMPLETED_MIN = 4
/** Leases that others take over at once, soon, or not at all. */
const LEASES_MS = [-1, 3, 60_000]

/** Every change of a row's state or attempt, in the order of commits to the row. */
const TRACE = `
  CREATE TABLE trace (n bigserial, id text, was text, now text, was_attempt integer, now_attempt integer, was_ended boolean);
  CREATE FUNCTION traced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO trace (id, was, now, was_attempt, now_attempt, was_ended)
    VALUES (old.id, old.state, new.state, old.attempt, new.attempt, old.ended_at IS NOT NULL);
    RETURN new;
  END $$;
  CREATE TRIGGER traced AFTER UPDATE ON video_jobs FOR EACH ROW EXECUTE FUNCTION traced();`

interface Traced {
  readonly id: string
  readonly was: (typeof VIDEO_STATES)[number]
  readonly now: (typeof VIDEO_STATES)[number]
  readonly was_attempt: number
  readonly now_attempt: number
  readonly was_ended: boolean
}

/** Ends that were booked, of all runners. */
interface Booked {
  completed: number
  failed: number
}

/**
 * Acts by any claim that it ever had, in the state that it knows of, whether or not others have taken the job
 * over.
 */
class Runner {
  readonly #work: VideoWork
  readonly #random: () => number
  readonly #booked: Booked
  readonly #claims = new Map<string, ClaimedVideo>()
  readonly #name: string
  /** Claims whose end was booked. */
  readonly ended: string[] = []

  constructor(
    work: VideoWork,
    {
      random,
      name,
      booked,
    }: { readonly random: () => number; readonly name: string; readonly booked: Booked },
  ) {
    this.#work = work
    this.#random = random
    this.#name = name
    this.#booked = booked
  }

  async run(): Promise<void> {
    const isEnough = (): boolean => this.#booked.completed >= COMPLETED_MIN && this.#booked.failed > 0
    for (let step = 0; step < STEPS || (!isEnough() && step < STEPS_MAX); step++) await this.#step(step)
  }

  async #step(step: number): Promise<void> {
    const work = this.#work
    const leaseMs = this.#pick(LEASES_MS) ?? 0
    const job = this.#pick([...this.#claims.values()])
    if (job === undefined || this.#random() < 0.2) {
      for (const claim of await work.claim(new Map([['acme', 3]]), leaseMs))
        this.#claims.set(`${claim.id} ${claim.attempt}`, claim)
      return
    }
    if (this.#random() < 0.15) return void (await work.renew([...this.#claims.values()], leaseMs))
    if (this.#random() < 0.05) return work.release([job], leaseMs)
    if (this.#random() < 0.12)
      return this.#end(job, { kind: 'completed', clips: [clip(`${job.id}-${this.#name}-${step}`)] })
    if (this.#random() < 0.05)
      return this.#end(job, { kind: 'failed', error: 'e', mayHaveCost: this.#random() < 0.5 })
    const moved = await this.#move(job, leaseMs)
    if (typeof moved !== 'string' && moved !== null) this.#claims.set(`${job.id} ${job.attempt}`, moved)
  }

  async #end(job: ClaimedVideo, end: VideoEnd): Promise<void> {
    if ((await this.#work.end(job, end)) === null) return
    this.ended.push(`${job.id} ${job.attempt}`)
    if (end.kind === 'completed') this.#booked.completed += 1
    else this.#booked.failed += 1
  }

  #move(job: ClaimedVideo, leaseMs: number): Promise<ClaimedVideo | 'owned' | 'lost' | null> {
    const work = this.#work
    switch (job.state) {
      case 'accepted':
        return work.submitting(job, { leaseMs, callMs: 2 })
      case 'submitting':
        return this.#random() < 0.3
          ? work.unsubmitted(job)
          : work.submitted(job, `up-${Math.floor(this.#random() * 3 * JOBS)}`)
      case 'running':
        return work.made(job, { sources: [{ kind: 'content', index: 0 }] })
      case 'storing':
        return work.made(job, { sources: [] })
    }
  }

  #pick<T>(among: readonly T[]): T | undefined {
    return among[Math.floor(this.#random() * among.length)]
  }
}

/** @returns claims whose end was booked */
async function wildlyRun(stand: VideoStand, seed: number): Promise<readonly string[]> {
  const random = randomOf(seed)
  await stand.store.sql.unsafe(TRACE)
  const ids: string[] = []
  for (let nth = 0; nth < JOBS; nth++)
    ids.push(await stand.accept({ heldNano: 1_000, callbackUrl: 'https://hooks.test/in' }))
  const cancel = openVideoCancel({
    store: stand.store,
    context: CONTEXT,
    views: { put: () => Promise.resolve(true), wake: () => undefined },
  })
  const booked: Booked = { completed: 0, failed: 0 }
  const runners = Array.from(
    { length: RUNNERS },
    (_, nth) => new Runner(openVideoWork(stand.store, CONTEXT), { random, name: `r${nth}`, booked }),
  )
  const canceller = async (): Promise<void> => {
    for (let nth = 0; nth < 40; nth++) {
      const id = ids[Math.floor(random() * ids.length * 6)]
      if (id === undefined) await stand.work.due()
      else await cancel(stand.owners.workspaceId, id)
    }
  }
  await Promise.all([...runners.map((runner) => runner.run()), canceller()])
  return runners.flatMap(({ ended }) => ended)
}

/** Steps that no job may take. */
function isBackward({
  was,
  now,
  was_attempt: wasAttempt,
  now_attempt: nowAttempt,
  was_ended: wasEnded,
}: Traced): boolean {
  const isSentBack = was === 'submitting' && now === 'accepted'
  const isBack = VIDEO_STATES.indexOf(now) < VIDEO_STATES.indexOf(was) && !isSentBack
  return wasEnded || isBack || nowAttempt < wasAttempt
}

for (const seed of SEEDS) {
  t.test(
    `states of jobs never go back, and each job ends and is booked once, whichever runner acts (seed ${seed})`,
    async (t) => {
      const stand = await openVideoStand(t, 10)
      const { sql } = stand.store
      const ended = await wildlyRun(stand, seed)
      const steps = await sql<Traced[]>`SELECT * FROM trace ORDER BY n`
      t.same(steps.filter(isBackward), [])
      const byRunners = steps.filter(({ now }) => now === 'completed' || now === 'failed')
      t.same(
        byRunners.map(({ id, was_attempt: attempt }) => `${id} ${attempt}`).sort(),
        [...ended].sort(),
        'by whose claim it was',
      )
      const [seen] = await sql<Record<string, string>[]>`
      SELECT count(*) FILTER (WHERE ended_at IS NOT NULL) AS ended, count(*) FILTER (WHERE state = 'completed') AS completed,
        (SELECT count(*) FROM webhook_deliveries) AS told, (SELECT count(*) FROM ledger WHERE kind = 'usage') AS paid,
        (SELECT count(*) FROM video_clips) AS clips, (SELECT count(DISTINCT journal_id) FROM leases) AS held,
        count(*) FILTER (WHERE ended_at IS NULL) AS open, (SELECT count(*) FROM trace WHERE now_attempt > was_attempt) AS taken
      FROM video_jobs`
      t.comment(JSON.stringify(seen))
      t.ok(
        Number(seen?.['completed']) >= COMPLETED_MIN && Number(seen?.['ended']) > Number(seen?.['completed']),
        'enough happened',
      )
      t.equal(seen?.['told'], seen?.['ended'])
      t.equal(seen?.['paid'], seen?.['completed'])
      t.equal(seen?.['clips'], seen?.['completed'])
      t.equal(seen?.['held'], seen?.['open'])
      t.same(await imbalances(sql), [])
      t.same(must(await checkLedger(stand.store)).differences, [])
    },
  )
}
