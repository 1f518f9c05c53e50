/** What an endpoint's health learns from an attempt that failed. */
import t from 'tap'
import type { FailureName } from '../../../../src/schemas/failures.ts'
import {
  Attempts,
  type AttemptsDeps,
  type Attempting,
  type Try,
  Trail,
} from '../../../../src/server/upstream/routing/attempts.ts'

const STARTED_AT = 1_000
const DEADLINE_AT = 601_000

/** @returns the failure of the call, and the reports to the endpoint's health */
function learned(name: FailureName, endsAt: number, hasBegun: boolean): readonly string[] {
  const reported: string[] = []
  const health = {
    isOpen: false,
    strike: () => reported.push('strike'),
    unknown: () => reported.push('unknown'),
    alive: () => reported.push('alive'),
  }
  const endpoint = { provider: { slug: 'acme' }, tag: 'acme/m' }
  const deps = {
    targets: { isAlone: () => false },
    log: { debug: () => undefined },
    meters: { upstream: () => undefined },
    now: () => STARTED_AT + 31_000,
  } as unknown as AttemptsDeps<never>
  const one = {
    ...{ model: { endpoints: [] }, target: { endpoint, health } },
    ...{ startedAt: STARTED_AT, endsAt, trail: new Trail() },
  } as unknown as Try<never>
  const call = { signal: new AbortController().signal }
  const of = { caller: { key: 'k' }, call, deadlineAt: DEADLINE_AT, isInnocent: false, hasBegun }
  const failure = new Attempts(deps).learn({ name }, one, of as never)
  return [failure.name, ...reported]
}

t.test('a timeout counts against the endpoint, unless the deadline of the call came first', (t) => {
  t.same(learned('upstream_slow', STARTED_AT + 30_000, false), ['upstream_slow', 'strike'])
  t.same(learned('upstream_slow', DEADLINE_AT, false), ['deadline_exceeded', 'strike'])
  t.same(learned('upstream_slow', DEADLINE_AT + 1, false), ['deadline_exceeded', 'unknown'])
  t.same(learned('upstream_failed', DEADLINE_AT + 1, false), ['upstream_failed', 'strike'])
  t.end()
})

t.test("a stall after the first output is the endpoint's fault, however long it may take to start", (t) => {
  for (const endsAt of [STARTED_AT + 30_000, DEADLINE_AT, DEADLINE_AT + 1])
    t.same(learned('upstream_slow', endsAt, true), ['upstream_slow', 'strike'])
  t.end()
})

/** @returns whether an attempt may change to another model, of endpoints that rest for these milliseconds */
async function mayChange(restsMs: readonly number[], models: string, attemptsMax = 8): Promise<boolean> {
  const asked: boolean[] = []
  const choices = restsMs.map((restMs, nth) => ({
    model: models[nth],
    target: {
      endpoint: { provider: { slug: 'acme' } },
      health: { isOpen: restMs > 0, admit: () => restMs === 0, restMs: () => restMs },
    },
  }))
  const how = {
    attemptsMax,
    endsAtOf: () => DEADLINE_AT,
    attempt: ({ model, others }) => {
      asked.push(others.hasOther(model))
      return Promise.resolve({ ok: true, value: null })
    },
    answered: () => null,
  } satisfies Attempting<never, null, null>
  const tried = { caller: { key: 'k' }, deadlineAt: DEADLINE_AT }
  const attempts = new Attempts({ now: () => STARTED_AT } as unknown as AttemptsDeps<never>)
  await attempts.run(tried as never, choices as never, how)
  return asked[0] === true
}

t.test('a call may switch to another model while that model has an available endpoint. D11', async (t) => {
  t.equal(await mayChange([0, 0], 'ab'), true)
  t.equal(await mayChange([0], 'a'), false)
  t.equal(await mayChange([0, 0], 'aa'), false, 'the endpoints of one model')
  t.equal(await mayChange([0, 500], 'ab'), false, 'the other one rests')
  t.equal(await mayChange([0, 500, 0], 'abc'), true)
  t.equal(await mayChange([0, 0], 'ab', 1), false, 'no attempt is left')
})
