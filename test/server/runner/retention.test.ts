import t from 'tap'
import type {
  PruneEnd,
  PruneStep,
  RetentionKind,
  RetentionLease,
} from '../../../src/server/ports/operator/retention.ts'
import {
  PRUNE_EVERY_MS,
  PRUNE_REST_MS_MAX,
  PRUNE_REST_TIMES,
  prune,
  type PruneDeps,
} from '../../../src/server/runner/retention.ts'
import { keptLog } from '../../support/log.ts'

interface Stand {
  readonly deps: PruneDeps
  readonly log: ReturnType<typeof keptLog>
  /** In which order batches ran and how long it rested. */
  readonly reported: (string | number)[]
  readonly ended: number[]
  readonly counted: Record<string, number>
}

/** Batches by their rows; a batch takes ten milliseconds. */
function stand(
  kinds: Partial<Record<RetentionKind, readonly (number | Error)[]>>,
  more: Partial<PruneDeps> & { readonly end?: PruneEnd } = {},
): Stand {
  let now = 0
  const reported: (string | number)[] = []
  const ended: number[] = []
  const counted: Record<string, number> = {}
  const log = keptLog()
  const lease: RetentionLease = { id: 'all', attempt: 1 }
  const steps = Object.entries(kinds).map(([kind, batches]): PruneStep => ({
    kind: kind as RetentionKind,
    keptFor: null,
    due: () => Promise.resolve(0),
    oldest: () => Promise.resolve(null),
    async *run(given) {
      t.equal(given, lease)
      for (const batch of batches) {
        await Promise.resolve()
        reported.push(kind)
        now += 10
        if (batch instanceof Error) throw batch
        yield batch
      }
      return more.end ?? 'done'
    },
  }))
  const deps: PruneDeps = {
    steps,
    log,
    now: () => now,
    isEnding: () => false,
    leases: {
      begin: () => Promise.resolve(lease),
      hasten: () => Promise.resolve(),
      end: (_, dueInMs) => Promise.resolve(void ended.push(dueInMs)),
    },
    meters: { pruned: (kind, rows) => (counted[kind] = (counted[kind] ?? 0) + rows) },
    rest: (ms) => Promise.resolve(void reported.push(ms)),
    ...more,
  }
  return { deps, log, reported, ended, counted }
}

const REST = PRUNE_REST_TIMES * 10

t.test('kinds alternate by batch, with a pause that grows with the time of the batch', async (t) => {
  const { deps, reported, ended, counted } = stand({ jobs: [5, 7], webhooks: [1] })
  t.same(await prune(deps), { rows: { jobs: 12, webhooks: 1 }, failed: [], isWhole: true })
  t.same(reported, ['jobs', REST, 'webhooks', REST, 'jobs', REST])
  t.same(ended, [PRUNE_EVERY_MS])
  t.same(counted, { jobs: 12, webhooks: 1 })
})

t.test('a rest is no longer than PRUNE_REST_MS_MAX', async (t) => {
  let now = 0
  const { deps, reported } = stand({ jobs: [5] }, { now: () => (now += PRUNE_REST_MS_MAX) })
  await prune(deps)
  t.same(reported, ['jobs', PRUNE_REST_MS_MAX])
})

t.test('logs the failure of a kind, and prunes the others', async (t) => {
  const { deps, log, ended } = stand({ ledger: [new Error('somebody reads it')], jobs: [5, 7] })
  t.same(await prune(deps), { rows: { jobs: 12 }, failed: ['ledger'], isWhole: true })
  t.match(log.events, [{ event: 'retention_failed', fields: { kind: 'ledger' } }])
  t.same(ended, [PRUNE_EVERY_MS])
})

t.test('an ending runner stops after a batch and releases the lease at once', async (t) => {
  let isEnding = false
  const { deps, reported, ended } = stand(
    { jobs: [5, 7], webhooks: [1] },
    { isEnding: () => isEnding, rest: async () => void (isEnding = true) },
  )
  t.match(await prune(deps), { rows: { jobs: 5 }, isWhole: false })
  t.same(reported, ['jobs'])
  t.same(ended, [0])
})

t.test('when another runner has the lease, it is not given back, and no more batches run', async (t) => {
  const { deps, reported, ended } = stand({ jobs: [], webhooks: [1] }, { end: 'lost' })
  t.match(await prune(deps), { rows: {}, isWhole: false })
  t.same([reported, ended], [[], []])
})

t.test('without a lease nothing is pruned', async (t) => {
  const { deps, reported } = stand({ jobs: [5] })
  t.equal(await prune({ ...deps, leases: { ...deps.leases, begin: () => Promise.resolve(null) } }), null)
  t.same(reported, [])
})
