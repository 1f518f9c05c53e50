/** Calls under way and tokens of keys and workspaces, as one front decides about them. D29. */
import t from 'tap'
import { textOf } from '../../../src/schemas/failures.ts'
import { NO_CALL_LIMITS, type CallLimits } from '../../../src/schemas/limits/model-calls.ts'
import {
  CALL_RENEW_MS,
  createModelCalls,
  type FrontModelCalls,
} from '../../../src/server/limits/model-calls.ts'
import type {
  AdmittedCall,
  CallAuthority,
  CallGrant,
  LimitedCall,
} from '../../../src/server/ports/model-calls.ts'
import { keyOf } from '../../support/wire/rate-simulation.ts'

const EPOCH = 1_700_000_000_000

class FakeAuthority implements CallAuthority {
  isReachable = true
  readonly takes: LimitedCall[] = []
  readonly backs: { readonly call: LimitedCall; readonly tokens: number }[] = []
  readonly renewed: { readonly owner: string; readonly ids: readonly string[] }[] = []
  /** Null: it fails. */
  answer: (call: LimitedCall) => CallGrant | null = () => ({ isGranted: true, left: [] })
  #returned = (): void => undefined

  take(call: LimitedCall): Promise<CallGrant> {
    this.takes.push(call)
    const grant = this.answer(call)
    return grant === null ? Promise.reject(new Error('away')) : Promise.resolve(grant)
  }

  giveBack(call: LimitedCall, tokens: number): void {
    this.backs.push({ call, tokens })
  }

  renew(owner: string, ids: readonly string[]): void {
    this.renewed.push({ owner, ids })
  }

  onReturn(listener: () => void): () => void {
    this.#returned = listener
    return () => undefined
  }

  return(): void {
    this.isReachable = true
    this.#returned()
  }
}

t.test('a call without limits, or whose limits were removed, does not ask the authority', async (t) => {
  const { admit, authority } = open(t)
  t.match(await admit(null), { failure: null, headers: null })
  t.match(await admit({}), { failure: null, headers: null })
  t.equal(authority.takes.length, 0)
})

t.test('a refusal for parallel calls names the limit owner, with a Retry-After of 1 second', async (t) => {
  const { admit, authority } = open(t)
  authority.answer = ({ places }) => ({ isGranted: false, by: places[1] ?? { owner: '', max: 0 } })
  const { failure, headers } = await admit({ max_parallel: 5 }, { max_parallel: 9 })
  t.equal(headers, null)
  t.match(failure, {
    name: 'rate_limited',
    retryAfterS: 1,
    metadata: {
      limit_kind: 'parallel',
      limit_source: 'workspace_max_parallel',
      scope: 'workspace',
      limit: 9,
    },
  })
  t.equal(
    failure === null ? '' : textOf(failure),
    'The workspace is over its limit of 9 parallel calls; try again in 1 s.',
  )
})

t.test('a key with all places taken on this front is refused without the authority', async (t) => {
  const { admit, authority } = open(t)
  const held = [await admit({ max_parallel: 2 }), await admit({ max_parallel: 2 })]
  for (let n = 0; n < 500; n += 1) t.equal((await admit({ max_parallel: 2 })).failure?.name, 'rate_limited')
  t.equal(authority.takes.length, 2)
  t.equal((await admit({ max_parallel: 3 })).failure, null, 'a limit that is raised holds at once')
  t.equal((await admit({ max_parallel: 1 })).failure?.metadata?.limit, 1, 'and one that is lowered')
  for (const one of held) one.end(0)
  t.equal((await admit({ max_parallel: 2 })).failure, null)
})

t.test(
  'a place is released at the limit that it was taken from, also when the limit was changed or removed meanwhile',
  async (t) => {
    const { admit, authority } = open(t)
    const one = await admit({ max_parallel: 1 })
    t.equal((await admit({ max_parallel: null })).failure, null)
    one.end(0)
    t.same(
      authority.backs.map(({ call, tokens }) => [call.places.map(({ max }) => max), tokens]),
      [[[1], 0]],
    )
    t.equal((await admit({ max_parallel: 1 })).failure, null)
  },
)

t.test('a call of more tokens than a minute allows is refused without a Retry-After', async (t) => {
  const { admit, authority } = open(t)
  const { failure } = await admit({ rate_limit_tpm: 1_000 }, {}, 1_001)
  t.match(failure, {
    name: 'tokens_over_limit',
    retryAfterS: undefined,
    metadata: { limit: 1_000, estimated_tokens: 1_001, scope: 'key', limit_kind: 'tokens' },
  })
  t.match(failure === null ? '' : textOf(failure), /about 1001 tokens.*the key is limited to 1000 per minute/)
  t.equal(authority.takes.length, 0)
  t.equal((await admit({ rate_limit_tpm: 1_000 }, {}, 1_000)).failure, null)
})

t.test('the headers contain the tokens, and a refusal contains the wait', async (t) => {
  const { admit, authority } = open(t)
  const left = [
    { remaining: 800, resetAfterMs: 12_000 },
    { remaining: 700, resetAfterMs: 1_500 },
  ]
  authority.answer = () => ({ isGranted: true, left })
  t.same((await admit({ rate_limit_tpm: 1_000 }, { rate_limit_tpm: 9_000 }, 10)).headers, {
    'RateLimit-Policy': '"tokens";q=9000;w=60',
    RateLimit: '"tokens";r=700;t=2',
    'X-RateLimit-Limit-Tokens': '9000',
    'X-RateLimit-Remaining-Tokens': '700',
    'X-RateLimit-Reset-Tokens': String(EPOCH + 1_500),
  })
  authority.answer = ({ tokens: [by] }) => ({
    isGranted: false,
    by: by ?? { owner: '', perMinute: 0 },
    left: { remaining: 5, resetAfterMs: 59_000 },
    retryAfterMs: 2_001,
  })
  const { failure, headers } = await admit({ rate_limit_tpm: 1_000 }, {}, 40)
  t.match(headers, { RateLimit: '"tokens";r=5;t=3', 'X-RateLimit-Reset-Tokens': String(EPOCH + 2_001) })
  t.match(failure, {
    name: 'rate_limited',
    retryAfterS: 3,
    metadata: {
      limit_kind: 'tokens',
      limit_source: 'key_rate_limit_tpm',
      limit: 1_000,
      estimated_tokens: 40,
      headers: { 'X-RateLimit-Limit-Tokens': '1000', 'X-RateLimit-Remaining-Tokens': '5' },
    },
  })
  t.equal(
    failure === null ? '' : textOf(failure),
    'The key is over its limit of 1000 tokens a minute; try again in 3 s.',
  )
})

t.test('at its end a call takes or returns the difference to its expected tokens', async (t) => {
  const { admit, authority } = open(t)
  for (const used of [130, 100, 40, 0]) (await admit({ rate_limit_tpm: 1_000 }, {}, 100)).end(used)
  t.same(
    authority.backs.map(({ tokens }) => tokens),
    [30, -60, -100],
  )
})

t.test('a limit that the authority reported as full stays so for a while without it', async (t) => {
  const { admit, authority, clock } = open(t)
  authority.answer = ({ places: [by] }) => ({ isGranted: false, by: by ?? { owner: '', max: 0 } })
  t.equal((await admit({ max_parallel: 10 })).failure?.name, 'rate_limited')
  authority.answer = () => null
  clock.ms += CALL_RENEW_MS - 1
  t.equal((await admit({ max_parallel: 10 })).failure?.name, 'rate_limited')
  t.equal((await admit({ max_parallel: 10 }, {}, 0, 'b')).failure, null, 'of this owner alone')
  clock.ms += 1
  t.equal((await admit({ max_parallel: 10 })).failure, null)
})

t.test('without the authority a front grants its share of the places', async (t) => {
  const { admit, authority } = open(t, 4)
  const held = [await admit({ max_parallel: 11 })]
  authority.isReachable = false
  held.push(await admit({ max_parallel: 11 }))
  t.equal((await admit({ max_parallel: 11 })).failure?.name, 'rate_limited')
  t.equal((await admit({ max_parallel: 3 }, {}, 0, 'b')).failure, null, 'one at least')
  t.equal(authority.takes.length, 1)
  authority.return()
  t.same(
    authority.renewed.map(({ ids }) => ids.length).sort(),
    [1, 2],
    'all held places are reported to the authority',
  )
  for (const one of held) one.end(0)
  t.equal((await admit({ max_parallel: 11 })).failure, null)
})

t.test('without the authority a front grants its share of the tokens, and owes the excess', async (t) => {
  const { admit, authority, clock } = open(t, 4)
  authority.isReachable = false
  const limit = { rate_limit_tpm: 4_000 }
  t.equal((await admit(limit, {}, 400)).failure, null)
  const refused = await admit(limit, {}, 700)
  t.match(refused.failure, { name: 'rate_limited', retryAfterS: 6 })
  clock.ms += 6_000
  const large = await admit(limit, {}, 3_000, 'b')
  t.equal(large.failure, null, 'more than the share fits when the share is whole')
  t.match((await admit(limit, {}, 100, 'b')).failure, { retryAfterS: 6 })
  large.end(3_000)
  t.match((await admit(limit, {}, 1, 'b')).failure, { retryAfterS: 61 }, 'for a minute at most')
  authority.return()
  t.equal((await admit(limit, {}, 1, 'b')).failure, null, 'the authority decides again')
})

t.test('tokens of a call that began without the authority are reported to it later', async (t) => {
  const { admit, authority } = open(t)
  authority.isReachable = false
  const one = await admit({ rate_limit_tpm: 1_000 }, {}, 100)
  authority.return()
  one.end(70)
  t.match(authority.backs, [{ tokens: 70 }])
})

t.test('a failing authority refuses no call, and places that it may have taken are released', async (t) => {
  const { admit, authority } = open(t)
  authority.answer = () => null
  const one = await admit({ max_parallel: 1 })
  t.equal(one.failure, null)
  t.equal(authority.backs.length, 0)
  one.end(0)
  authority.backs.length = 0
  const fronts = open(t, 1)
  fronts.authority.answer = () => null
  await Promise.all([fronts.admit({ max_parallel: 1 }), fronts.admit({ max_parallel: 1 })]).then((both) =>
    t.equal(both.filter(({ failure }) => failure === null).length, 1),
  )
  t.equal(fronts.authority.backs.length, 1)
})

t.test('a front renews only its own places', async (t) => {
  const { admit, authority, clock } = open(t)
  const one = await admit({ max_parallel: 5 }, { max_parallel: 6 })
  t.equal(clock.everyMs, CALL_RENEW_MS)
  clock.tick()
  t.equal(authority.renewed.length, 2)
  one.end(0)
  clock.tick()
  t.equal(authority.renewed.length, 2)
})

interface Rig {
  readonly calls: FrontModelCalls
  readonly authority: FakeAuthority
  readonly clock: { ms: number; everyMs: number; tick: () => void }
  admit(
    key: Partial<CallLimits> | null,
    workspace?: Partial<CallLimits>,
    tokens?: number,
    hash?: string,
  ): Promise<AdmittedCall>
}

function open(t: { teardown(end: () => unknown): void }, liveFronts = 1): Rig {
  const authority = new FakeAuthority()
  const clock = { ms: 0, everyMs: 0, tick: () => undefined as void }
  const calls = createModelCalls({
    authority,
    fronts: { liveFronts },
    now: () => clock.ms,
    epochNow: () => EPOCH,
    every(ms, run) {
      Object.assign(clock, { everyMs: ms, tick: run })
      return () => undefined
    },
  })
  t.teardown(() => calls.close())
  return {
    calls,
    authority,
    clock,
    admit(key, workspace = {}, tokens = 0, hash = 'a') {
      const callLimits =
        key === null
          ? null
          : { key: { ...NO_CALL_LIMITS, ...key }, workspace: { ...NO_CALL_LIMITS, ...workspace } }
      return calls.admit({ key: { ...keyOf(null, hash), callLimits }, estimate: () => tokens })
    },
  }
}
