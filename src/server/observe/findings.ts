import type { BreakerView, FindingView, LiveView } from '../../schemas/operator/live-view.ts'
import { isFailure, OPERATOR_REMEDIES } from '../../schemas/failure-words.ts'
import { type Advice, type Cores, loadAdvice, msText, type NodeLoad, percentText } from './load-advice.ts'

/** Share of calls that may end with 5xx. Decision. */
export const FAILED_SHARE_MAX = 0.02
/** Calls below which the live view reports no share of failed calls. Decision. */
export const FAILED_OF_MIN = 20
/** Share of calls that may be refused: callers make mistakes and reach limits. Decision. */
export const REFUSED_SHARE_MAX = 0.2
/** Calls below which the live view reports no share of refused calls. Decision. */
export const REFUSED_OF_MIN = 20
/** Milliseconds that the books may lag the journals: a single flush may occasionally take a second. Decision. */
export const JOURNAL_LAG_MS_MAX = 10_000

/** The measurements of the live view, from which the findings are made. */
export interface Found {
  readonly view: Omit<LiveView, 'findings'>
  readonly load: NodeLoad
  readonly cores: Cores
  /** Calls within `quantile_seconds`. */
  readonly calls: Refused & { readonly failed: number; readonly worst: string | null }
  /** Advice about conditions that no counter shows yet. */
  readonly advice: readonly Advice[]
  /** Processes that did not answer in time. */
  readonly silent: readonly { readonly role: string; readonly pid: number }[]
}

/** Current and expected problems; problems that affect callers come first. */
export function findingsOf(found: Found): FindingView[] {
  const { view, load, cores } = found
  const bad = [...stores(view), ...processes(found), ...failing(found), ...money(view)]
  const warnings = [
    ...given(refusals(found.calls)),
    ...loadAdvice(load, cores),
    ...providers(view),
    ...behind(view),
    ...given(view.webhooks === null ? null : deadLetters(view.webhooks)),
    ...found.advice,
  ]
  const all = [...bad, ...warnings.map((advice) => ({ severity: 'warn' as const, ...advice }))]
  const of = (wanted: FindingView['severity']): FindingView[] =>
    all
      .filter(({ severity }) => severity === wanted)
      .map(({ detail, ...more }) => ({ text: detail, ...more }))
  return [...of('bad'), ...of('warn')]
}

/** Advice about webhooks that could not be delivered and are no longer retried. */
export function deadLetters({
  waiting,
  dead,
}: {
  readonly waiting: number
  readonly dead: number
}): Advice | null {
  if (dead === 0) return null
  return {
    detail: `${dead} failed webhook ${dead === 1 ? 'delivery' : 'deliveries'}, ${waiting} waiting for an attempt`,
    fix:
      'list failed deliveries with `sluice webhooks list --state dead`, then replay all with ' +
      '`sluice webhooks replay --dead` or one with `sluice webhooks replay ID`',
    page: 'webhooks?state=dead',
  }
}

type Judged = Advice & Pick<FindingView, 'severity'>

function given(advice: Advice | null): readonly Advice[] {
  return advice === null ? [] : [advice]
}

function stores({ readiness }: Found['view']): readonly Judged[] {
  const { postgres, redis, storage } = readiness.dependencies
  const away = (
    name: string,
    { since, effect = 'Sluice keeps trying to connect' }: typeof postgres,
  ): string => `${name} has been down since ${since}: ${effect}`
  const found: Judged[] = []
  if (readiness.reasons.includes('key_grace_over')) {
    found.push({
      severity: 'bad',
      detail: 'Postgres has been down for longer than SLUICE_KEY_GRACE: calls of all keys are refused',
      fix: BRING_BACK,
    })
  } else if (postgres.state === 'down')
    found.push({ severity: 'bad', detail: away('Postgres', postgres), fix: BRING_BACK })
  if (storage.state === 'down') {
    const detail = `${storage.effect ?? 'the disk is full'} (since ${storage.since})`
    found.push({ severity: 'bad', detail, fix: 'free disk space; `sluice doctor` shows which disk is full' })
  }
  if (redis.state === 'down') found.push({ severity: 'warn', detail: away('Redis', redis), fix: BRING_BACK })
  return found
}

const BRING_BACK = '`sluice doctor` shows whether the store can be reached, and why not'

function processes({
  view: {
    readiness: { fronts, runners },
  },
  silent,
}: Found): readonly Judged[] {
  const found: Judged[] = silent.map(({ role, pid }) => ({
    severity: 'bad',
    detail: `the ${role} with pid ${pid} does not respond`,
    fix: FIXES_OF_SILENCE[role] ?? FIX_OF_SILENCE,
  }))
  const fix = 'find the cause in the log: `child_ended`, `child_failed`'
  if (fronts.ready < fronts.wanted)
    found.push({ severity: 'bad', detail: `${fronts.ready} of ${fronts.wanted} fronts are serving`, fix })
  if (runners.ready < runners.wanted) {
    found.push({
      severity: 'bad',
      detail: `${runners.ready} of ${runners.wanted} runners are running: videos and webhooks wait`,
      fix,
    })
  }
  return found
}

const FIX_OF_SILENCE =
  'find out what uses the CPU of this process, or replace the process with `sluice reload`'
const FIXES_OF_SILENCE: Readonly<Record<string, string>> = {
  front:
    'Sluice replaces the front after 10 s without an answer; find out what uses its CPU, and look for `front_hung` in the log',
}

function failing({ calls: { all, failed, worst } }: Found): readonly Judged[] {
  if (all < FAILED_OF_MIN || failed <= all * FAILED_SHARE_MAX) return []
  const most = worst === null ? '' : `, most of them ${worst}`
  return [
    {
      severity: 'bad',
      detail: `${percentText(failed / all)} of calls fail${most}`,
      fix: 'find the cause in the log: `call_failed`, field `failure`',
    },
  ]
}

function money({ money: { is_journal_broken: isBroken } }: Found['view']): readonly Judged[] {
  if (!isBroken) return []
  const detail = 'a front cannot write its journal: paid calls are refused'
  return [{ severity: 'bad', detail, fix: 'check whether the disk of SLUICE_DATA is full or read-only' }]
}

function behind({ money: { journal_lag_ms: lagMs } }: Found['view']): readonly Advice[] {
  if (lagMs <= JOURNAL_LAG_MS_MAX) return []
  return [
    {
      detail: `the ledger is delayed by ${msText(lagMs)}`,
      fix: 'nothing is lost; check whether Postgres is slow or down',
    },
  ]
}

function providers({ providers: all }: Found['view']): readonly Advice[] {
  const open = all.flatMap(({ provider, breaker }) =>
    breaker === null ? [] : [breakerAdvice(provider, breaker)],
  )
  return [...open, ...failingProviders(all)]
}

function breakerAdvice(provider: string, { endpoints, since, next_probe_at: probeAt }: BreakerView): Advice {
  const next =
    probeAt === null ? 'the next call tests an endpoint' : `the next test call is allowed at ${probeAt}`
  return {
    detail: `the circuit breaker of ${provider} (${endpoints.join(', ')}) has been open since ${since}: Sluice skips these endpoints; ${next}`,
    fix: "the breaker closes after one success; check the provider's status page and your API key",
    page: 'models',
  }
}

function failingProviders(all: Found['view']['providers']): readonly Advice[] {
  return all
    .filter(({ state }) => state === 'failing')
    .map(({ provider }) => ({
      detail: `at least half of the calls to ${provider} fail`,
      fix: "check the provider's status page and your API key; `sluice models list` shows other providers of the same models",
      page: 'models',
    }))
}

interface Refused {
  /** All calls. */
  readonly all: number
  readonly refused: number
  /** Refused calls by failure code. */
  readonly codes: ReadonlyMap<string, number>
}

/** Advice about a high share of refused calls: the most frequent code, and the operator's remedy. */
export function refusals({ all, refused, codes }: Refused): Advice | null {
  if (all < REFUSED_OF_MIN || refused <= all * REFUSED_SHARE_MAX) return null
  const [code] = [...codes].sort(([, a], [, b]) => b - a)[0] ?? []
  if (code === undefined || !isFailure(code))
    return { detail: `${percentText(refused / all)} of calls are refused (4xx)`, fix: logOf('') }
  const detail = `${percentText(refused / all)} of calls are refused (4xx), most of them with ${code}`
  const { fix = null, page } = OPERATOR_REMEDIES[code] ?? {}
  const log = logOf(` with the failure \`${code}\``)
  return { detail, fix: fix === null ? log : `${fix}; ${log}`, ...(page !== undefined && { page }) }
}

function logOf(which: string): string {
  return `find the operations and keys of these calls in the log: \`call_failed\`${which}`
}
