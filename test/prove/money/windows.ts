/** Every event counts once, in one window of each interval, whatever days and clocks do. */
import { SPANS, type AccountKind, type Day, type Span } from '../../../src/server/ports/money/money.ts'
import { checkLedger } from '../../../src/server/store/money/repair/check.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { keptLog } from '../../support/log.ts'
import { limitCredit, makeOwners, setLimit, turnTo } from '../../support/money/money.ts'
import { must } from '../../support/must.ts'
import { openTestStore, waitLong } from '../../support/stores/postgres.ts'
import type { Program, Proof } from '../proof.ts'
import { dayAfter, isTogether, Oracle } from './windows/oracle.ts'
import { SimFront, type Payer } from './windows/sim-front.ts'

const FULL = { events: 1_000_000, calls: 700, fronts: 4 }
/** Of so many rounds the last one is a day before the one that it follows. */
const BACK_EVERY = 10
const SHORT = { events: 4_000, calls: 60, fronts: 3 }

/**
 * First and last days of stretches in which every kind of window ends: years, leap and other Februaries,
 * months on a Monday.
 */
const STRETCHES: readonly (readonly [Day, Day])[] = [
  ['2023-12-29', '2024-01-02'],
  ['2024-02-25', '2024-03-04'],
  ['2024-12-28', '2025-01-07'],
  ['2025-02-26', '2025-03-04'],
  ['2025-06-28', '2025-07-02'],
  ['2027-12-30', '2028-01-03'],
  ['2028-02-27', '2028-03-02'],
]

const DAYS: readonly Day[] = STRETCHES.flatMap(([first, last]) => {
  const days: Day[] = []
  for (let day = first; day <= last; day = dayAfter(day)) days.push(day)
  return days
})

export const program: Program = {
  text: 'a million events around the ends of windows, with clocks that step back, against an oracle',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    proof.teardown(waitLong())
    const store = await openTestStore(proof, 12)
    const log = keptLog()
    const oracle = new Oracle()
    await turnTo(store.sql, dayOf(proof, 0))
    const payers = await makePayers(store, size.events)
    await forbidExcess(store)
    const lender = openLender(store, { log })
    const options = { lender, oracle, payers, random: (below: number) => proof.random(below) }
    const fronts = Array.from({ length: size.fronts }, () => new SimFront(options))
    for (const front of fronts) await front.open()
    const differences: string[] = []
    const beganAt = performance.now()
    let [rounds, turns, backs] = [0, 0, 0]
    let today = ''
    for (; oracle.events < size.events; rounds++) {
      // Chance alone sets it back in most runs, not in each.
      const next =
        rounds % BACK_EVERY === BACK_EVERY - 1 ? dayBefore(today) : dayOf(proof, oracle.events / size.events)
      if (next < today) backs += 1
      turns += next === today ? 0 : 1
      today = next
      // While the fronts are at work.
      await Promise.all([turnTo(store.sql, today), ...fronts.map((front) => front.round(size.calls))])
      differences.push(...(await compare(store, { oracle, fronts })))
      if (rounds % 50 === 0) proof.say(`${today}: ${oracle.events} events`)
    }
    const eventsPerS = (oracle.events / (performance.now() - beganAt)) * 1_000
    await end(proof, { lender, fronts })
    differences.push(...(await compare(store, { oracle, fronts: [] }, { isForfeited: true })))
    const wrongs = [...fronts.flatMap((front) => front.wrongs), ...log.events.map(({ event }) => event)]
    const sum = (of: (front: SimFront) => number): number => fronts.reduce((all, front) => all + of(front), 0)
    const refused = sum((front) => front.refused)
    proof.say(`${rounds} rounds, ${Math.round(eventsPerS)} events/s`)
    proof.check(
      'counters and leases are those of the oracle after every round',
      differences.length === 0,
      differences[0] ?? `${rounds} rounds`,
    )
    proof.check(
      'every request and flush holds, repeated or not, and no day goes back',
      wrongs.length === 0,
      wrongs[0] ?? 'all',
    )
    proof.check('limits refused, again and again', refused > rounds / 10, `${refused} refusals`)
    const late = sum((front) => front.lateEvents)
    proof.check(
      'days were turned, forward and back, and events came late',
      turns > 5 && backs > 0 && late > 0,
      `${turns} turns, ${backs} back, ${late} late`,
    )
    await proveBooks(proof, store, oracle)
  },
}

/** Mostly the day that the run is at, now and then the next one or one before it: clocks are set back too. */
function dayOf(proof: Proof, share: number): Day {
  const at = Math.floor(share * DAYS.length) + ([0, 0, 0, 1, -1, -2][proof.random(6)] ?? 0)
  return DAYS[Math.max(0, Math.min(DAYS.length - 1, at))] ?? ''
}

function dayBefore(day: Day): Day {
  return DAYS[Math.max(0, DAYS.indexOf(day) - 1)] ?? ''
}

/** In shares of what one caller asks for on one day. */
const LIMITS: readonly Partial<Record<AccountKind, Partial<Record<Span, number>>>>[] = [
  {},
  { workspace: { daily: 0.8, weekly: 3, monthly: 9, lifetime: 30 } },
  { organization: { lifetime: 20 }, workspace: { daily: 0.6 }, key: { monthly: 6 } },
  { key: { weekly: 2, lifetime: 25 } },
]
const BOUND_NANO_MEAN = 500

/** Of every mix of limits one caller whose own credentials count, and one whose do not. */
async function makePayers(store: Store, events: number): Promise<readonly Payer[]> {
  const payers: Payer[] = []
  const dayNano = (events * BOUND_NANO_MEAN) / DAYS.length / (2 * LIMITS.length)
  for (const [nth, limits] of [...LIMITS, ...LIMITS].entries()) {
    const owners = await makeOwners(store, `o${nth}`)
    const doesCount = nth >= LIMITS.length
    const limited = { organization: limits.organization, workspace: limits.workspace, key: limits.key }
    for (const kind of ['organization', 'workspace', 'key'] as const) {
      for (const span of SPANS) {
        const share = limited[kind]?.[span]
        if (share === undefined) continue
        const nano = Math.round(share * dayNano)
        if (kind === 'organization') await limitCredit(store.sql, owners.organizationId, nano)
        else await setLimit(store.sql, owners.accounts[kind], span, nano)
      }
    }
    if (doesCount)
      await store.sql`UPDATE accounts SET counts_byok = true WHERE id IN (${owners.accounts.workspace}, ${owners.accounts.key})`
    payers.push({
      owners,
      isLimited: {
        organization: limited.organization !== undefined,
        workspace: limited.workspace !== undefined,
        key: limited.key !== undefined,
      },
      countsByok: { organization: false, workspace: doesCount, key: doesCount },
    })
  }
  return payers
}

/** The invariant, in the database: no commit leaves more spent and lent than a limit. */
async function forbidExcess({ sql }: Store): Promise<void> {
  const spans = SPANS.map(
    (span) =>
      `(l.span = '${span}' AND NEW.${span}_spent_nano + NEW.${span}_lent_nano
        + CASE WHEN NEW.counts_byok THEN NEW.${span}_byok_nano ELSE 0 END > l.limit_nano)`,
  )
  await sql.unsafe(`
    CREATE FUNCTION forbid_excess() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM account_limits l WHERE l.account_id = NEW.id AND (${spans.join(' OR ')})) THEN
        RAISE EXCEPTION 'more than the limit: %', to_jsonb(NEW);
      END IF;
      RETURN NEW;
    END $$;
    CREATE CONSTRAINT TRIGGER forbid_excess AFTER UPDATE ON accounts DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION forbid_excess()`)
}

interface Sides {
  readonly oracle: Oracle
  readonly fronts: readonly SimFront[]
}

type Row = { readonly id: string; readonly day: Day } & Readonly<Record<string, string>>

/**
 * @returns what of accounts and leases is otherwise than the oracle's events and the fronts' own balances say
 */
async function compare(
  { sql }: Store,
  { oracle, fronts }: Sides,
  { isForfeited = false } = {},
): Promise<readonly string[]> {
  const accounts = await sql<Row[]>`SELECT *, day::text AS day FROM accounts`
  const leases = await sql<{ name: string; nano: string }[]>`
    SELECT account_id || ' ' || day::text AS name, sum(lent_nano)::text AS nano FROM leases GROUP BY 1`
  const held = new Map<string, number>()
  for (const front of fronts)
    for (const [name, nano] of front.held()) held.set(name, (held.get(name) ?? 0) + nano)
  const found = new Map(leases.map(({ name, nano }) => [name, Number(nano)]))
  const differences = [...new Set([...held.keys(), ...found.keys()])]
    .filter((name) => (held.get(name) ?? 0) !== (found.get(name) ?? 0))
    .map((name) => `lease ${name}: ${found.get(name)}, held ${held.get(name)}`)
  for (const account of accounts) {
    for (const span of SPANS) {
      const { paid, byok } = oracle.spentIn(account.id, span, account.day)
      const lent = [...held].reduce((sum, [name, nano]) => {
        const [id, day = ''] = name.split(' ')
        return id === account.id && isTogether(span, day, account.day) ? sum + nano : sum
      }, 0)
      const should = [isForfeited ? 'any' : paid, byok, lent].join(' ')
      const is = [
        isForfeited ? 'any' : account[`${span}_spent_nano`],
        account[`${span}_byok_nano`],
        account[`${span}_lent_nano`],
      ].join(' ')
      if (should !== is)
        differences.push(
          `${account.id} ${span} of ${account.day}: spent, byok, lent are ${is}, should be ${should}`,
        )
    }
  }
  return differences
}

/** All but one give back what they hold; that one dies with open calls. */
async function end(
  proof: Proof,
  {
    lender,
    fronts,
  }: { readonly lender: ReturnType<typeof openLender>; readonly fronts: readonly SimFront[] },
): Promise<void> {
  const [dead, ...others] = fronts
  for (const front of others) await front.drain()
  if (dead === undefined) return
  const open = dead.openTakes()
  const report = await lender.close({ journalId: dead.journal.id, rest: null, open, isComplete: true })
  const sumNano = open.reduce((sum, take) => sum + take.amounts.key, 0)
  proof.check(
    'a dead front forfeits its open calls and nothing else',
    report.forfeitedNano === BigInt(sumNano),
    `${open.length} calls`,
  )
}

async function proveBooks(proof: Proof, store: Store, oracle: Oracle): Promise<void> {
  const [row] = await store.sql<{ events: number; ids: number; nano: string; lent: number }[]>`
    SELECT count(*)::int AS events, count(DISTINCT request_id)::int AS ids, sum(cost_nano)::text AS nano, (SELECT count(*)::int FROM leases) AS lent
    FROM ledger WHERE kind IN ('usage', 'estimated')`
  const isOnce =
    row?.events === oracle.events && row.ids === oracle.events && row.nano === String(oracle.totalNano)
  proof.check(
    'the ledger has every event once',
    isOnce,
    `${row?.events} rows of ${oracle.events} events, ${row?.nano} nano-USD`,
  )
  proof.check('no lease is left', row?.lent === 0, `${row?.lent}`)
  const { differences } = must(await checkLedger(store))
  proof.check(
    'every counter and roll-up is what the ledger comes to',
    differences.length === 0,
    `${differences.length} differences`,
  )
}
