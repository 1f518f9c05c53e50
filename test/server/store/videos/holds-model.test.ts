import fc from 'fast-check'
import t from 'tap'
import { checkLedger } from '../../../../src/server/store/money/repair/check.ts'
import { SPANS, type AccountKind, type Day, type Span } from '../../../../src/server/ports/money/money.ts'
import type { VideoJobs } from '../../../../src/server/ports/videos/videos.ts'
import { must } from '../../../support/must.ts'
import {
  makeOwners,
  openJournal,
  setLimit,
  settlement,
  turnTo,
  type Owners,
  type TestJournal,
} from '../../../support/money/money.ts'
import {
  nameOf,
  openVideoStand,
  OWN,
  videoInput,
  type VideoStand,
} from '../../../support/videos/video-jobs.ts'

const KINDS = ['organization', 'workspace', 'key'] as const satisfies readonly AccountKind[]
/** Two months and weeks, and steps back. */
const DAYS = ['2026-11-28', '2026-11-29', '2026-11-30', '2026-12-01', '2026-12-07']

/** The state of the money, kept as a list of events instead of counters. */
class Model {
  today: Day = DAYS[0] ?? ''
  readonly limits = new Map<string, number>()
  readonly #days = new Map<AccountKind, Day>()
  readonly #events: { readonly kind: AccountKind; readonly day: Day; readonly nano: number }[] = []

  usedOf(kind: AccountKind, span: Span, day: Day): number {
    return this.#events
      .filter((event) => event.kind === kind && windowOf(span, event.day) === windowOf(span, day))
      .reduce((sum, { nano }) => sum + nano, 0)
  }

  /** Takes from all of them or from none. @returns the day that it counts on; null when one has too little */
  take(kinds: readonly AccountKind[], nano: number): Day | null {
    const limited = kinds.filter((kind) => SPANS.some((span) => this.limits.has(`${kind} ${span}`)))
    const day = [this.today, ...limited.map((kind) => this.#days.get(kind) ?? '')].reduce((one, other) =>
      other > one ? other : one,
    )
    const fits = limited.every((kind) =>
      SPANS.every(
        (span) => this.usedOf(kind, span, day) + nano <= (this.limits.get(`${kind} ${span}`) ?? Infinity),
      ),
    )
    if (fits) for (const kind of limited) this.add(kind, day, nano)
    return fits ? day : null
  }

  add(kind: AccountKind, day: Day, nano: number): void {
    this.#events.push({ kind, day, nano })
    if (day > (this.#days.get(kind) ?? '')) this.#days.set(kind, day)
  }
}

function windowOf(span: Span, day: Day): string {
  if (span === 'weekly') return String(Math.floor((Date.parse(day) / 86_400_000 + 3) / 7))
  return { daily: day, monthly: day.slice(0, 7), lifetime: '' }[span]
}

type Step =
  | { readonly kind: 'turn'; readonly day: Day }
  | { readonly kind: 'limit'; readonly of: AccountKind; readonly span: Span; readonly nano: number }
  | { readonly kind: 'job'; readonly nano: number; readonly isByok: boolean }
  | { readonly kind: 'spend'; readonly nano: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('turn' as const), day: fc.constantFrom(...DAYS) }),
  fc.record({
    kind: fc.constant('limit' as const),
    of: fc.constantFrom(...KINDS.slice(1)),
    span: fc.constantFrom(...SPANS),
    nano: fc.nat(1_500),
  }),
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('job' as const), nano: fc.nat(400), isByok: fc.boolean() }),
  },
  fc.record({ kind: fc.constant('spend' as const), nano: fc.nat(300) }),
)

interface Run {
  readonly stand: VideoStand
  readonly jobs: VideoJobs
  readonly journal: TestJournal
  readonly owners: Owners
  readonly model: Model
}

/** @returns whether the store did as the model */
async function taken({ stand: { store }, jobs, journal, owners, model }: Run, input: Step): Promise<boolean> {
  switch (input.kind) {
    case 'turn':
      await turnTo(store.sql, (model.today = input.day))
      return true
    case 'limit':
      model.limits.set(`${input.of} ${input.span}`, input.nano)
      await setLimit(store.sql, owners.accounts[input.of], input.span, input.nano)
      return true
    case 'spend': {
      const day = model.today
      for (const kind of KINDS) model.add(kind, day, input.nano)
      await journal.flush(
        settlement(owners, day, input.nano, { paid: { organization: false, workspace: false, key: false } }),
      )
      return true
    }
    case 'job': {
      // Of these accounts the key's alone counts own credentials.
      const day = input.nano === 0 ? model.today : model.take(input.isByok ? ['key'] : KINDS, input.nano)
      const outcome = await jobs.accept(
        videoInput(owners, { costNano: input.nano, ...(input.isByok && { target: OWN }) }),
      )
      return (day !== null) === outcome.ok
    }
    default:
      return input satisfies never
  }
}

t.test(
  'a job is accepted if and only if all of its limits have room, as a model of events predicts',
  async (t) => {
    const stand = await openVideoStand(t)
    const jobs = stand.open({ after: () => t.fail('nobody holds anything that may come back') })
    const journal = await openJournal(stand.store)
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const owners = await makeOwners(stand.store, `o${++runs}`)
        const run: Run = { stand, jobs, journal, owners, model: new Model() }
        await stand.store.sql`UPDATE accounts SET counts_byok = true WHERE id = ${owners.accounts.key}`
        await turnTo(stand.store.sql, run.model.today)
        // The calendar of its birth may be any.
        await stand.store
          .sql`UPDATE accounts SET day = ${run.model.today} WHERE organization_id = ${owners.organizationId}`
        for (const [nth, input] of steps.entries())
          if (!(await taken(run, input))) throw new Error(`step ${nth} is another's`)
      }),
      { numRuns: 25, endOnFailure: true },
    )
    t.same(must(await checkLedger(stand.store)).differences, [])
  },
)

t.test('jobs of several fronts and calls of others together never take more than a limit', async (t) => {
  const stand = await openVideoStand(t)
  const { store, owners } = stand
  await setLimit(store.sql, owners.accounts.workspace, 'daily', 4_000)
  await setLimit(store.sql, owners.accounts.key, 'lifetime', 3_333)
  const fronts = [stand.open(), stand.open()]
  const journals = await Promise.all([0, 1].map(() => openJournal(store)))
  const jobs = Array.from({ length: 60 }, (_, nth) =>
    fronts[nth % 2]?.accept(videoInput(owners, { costNano: 1 + nth })),
  )
  const lends = journals.map(async (journal) => {
    for (let nth = 1; nth < 20; nth++)
      await journal.lend({ [owners.accounts.key]: nth * 3, [owners.accounts.workspace]: nth * 5 })
  })
  const names = new Set(
    (await Promise.all(jobs)).map((outcome) => (outcome === undefined ? '' : nameOf(outcome))),
  )
  await Promise.all(lends)
  const [row] = await store.sql<{ workspace: number; key: number }[]>`
    SELECT (SELECT daily_lent_nano::int FROM accounts WHERE id = ${owners.accounts.workspace}) AS workspace,
      (SELECT lifetime_lent_nano::int FROM accounts WHERE id = ${owners.accounts.key}) AS key`
  t.ok((row?.workspace ?? Infinity) <= 4_000 && (row?.key ?? Infinity) <= 3_333)
  t.ok(names.has('ok'))
  t.same(must(await checkLedger(store)).differences, [])
})
