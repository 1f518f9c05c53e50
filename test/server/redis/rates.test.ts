import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { burstOf } from '../../../src/schemas/values/rate-burst.ts'
import { openRateAuthority } from '../../../src/server/redis/rates.ts'
import { openState, type State } from '../../../src/server/redis/open.ts'
import type { RateAuthority } from '../../../src/server/ports/rates.ts'
import { SILENT } from '../../support/log.ts'
import {
  openPatientState,
  openTestRedis,
  REDIS_KINDS,
  type RedisKind,
  type TestRedis,
} from '../../support/stores/redis.ts'
import { until } from '../../support/wait.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// Servers start here, on a machine that may be busy.
t.setTimeout(600_000)

/** Nothing in these tests is meant to be late. */
const PATIENT = 60_000

for (const kind of REDIS_KINDS) {
  t.test(
    `${kind}: a new key has its whole burst, then nothing, and reports when the next one is free`,
    async (t) => {
      const { authority } = await open(t, kind)
      t.match(await authority.lend(ask({ want: 60 })), { granted: 60, remaining: 0, retryAfterMs: 0 })
      t.match(await authority.lend(ask({ key: 'slow', limitRpm: 1 })), { granted: 1 })
      const refused = await authority.lend(ask({ key: 'slow', limitRpm: 1 }))
      t.equal(refused.granted, 0)
      t.ok(
        refused.retryAfterMs >= 1 && refused.retryAfterMs <= 60_001,
        `one token of 1/min: ${refused.retryAfterMs} ms`,
      )
      t.ok(
        refused.resetAfterMs >= 1 && refused.resetAfterMs <= 60_000,
        'the burst of one empties in a minute',
      )
    },
  )

  t.test(`${kind}: grants the remaining tokens when fewer are left than requested`, async (t) => {
    const { authority } = await open(t, kind)
    await authority.lend(ask({ limitRpm: 1, burst: 2, want: 1 }))
    const part = await authority.lend(ask({ limitRpm: 1, burst: 2, want: 50 }))
    t.equal(part.granted, 1)
    t.ok(part.retryAfterMs > 0, 'and says when more is free')
  })

  t.test(`${kind}: a refusal charges nothing`, async (t) => {
    const { authority, state } = await open(t, kind)
    await authority.lend(ask({ limitRpm: 1 }))
    const before = await state.redis.get(KEY)
    for (let i = 0; i < 20; i += 1) await authority.lend(ask({ limitRpm: 1 }))
    t.equal(await state.redis.get(KEY), before)
  })

  t.test(`${kind}: tokens given back can be lent again, and tokens owed are charged`, async (t) => {
    const { authority } = await open(t, kind)
    // A minute of each token: none is free again before the next ask.
    const slow = { limitRpm: 1, burst: 3 }
    await authority.lend(ask({ ...slow, want: 3 }))
    t.match(await authority.lend(ask({ ...slow, want: 5, giveBack: 2 })), { granted: 2 })
    await authority.lend(ask({ ...slow, key: 'other' }))
    t.match(await authority.lend(ask({ ...slow, key: 'other', want: 6, giveBack: -1 })), { granted: 1 })
  })

  t.test(`${kind}: giving back more tokens than were lent does not exceed the burst`, async (t) => {
    const { authority } = await open(t, kind)
    t.match(await authority.lend(ask({ want: 500, giveBack: 10_000 })), { granted: 60 })
  })

  t.test(`${kind}: a burst can be one, or the whole limit`, async (t) => {
    const { authority } = await open(t, kind)
    t.match(await authority.lend(ask({ limitRpm: 30, burst: 1, want: 99 })), { granted: 1, remaining: 0 })
    t.match(await authority.lend(ask({ key: 'all', limitRpm: 30, burst: 30, want: 99 })), { granted: 30 })
  })

  t.test(`${kind}: a raised and a lowered burst take effect at once`, async (t) => {
    const { authority } = await open(t, kind)
    const slow = { limitRpm: 1, want: 9 }
    t.match(await authority.lend(ask({ ...slow, burst: 2 })), { granted: 2 })
    t.match(await authority.lend(ask({ ...slow, burst: 5 })), { granted: 3 })
    t.match(await authority.lend(ask({ ...slow, burst: 1 })), { granted: 0 })
  })

  t.test(`${kind}: the smallest limits grant ten at once, or the whole limit if it is lower`, async (t) => {
    const { authority } = await open(t, kind)
    for (const limitRpm of [1, 3, 7, 9, 11, 25]) {
      const { granted } = await authority.lend(ask({ limitRpm, want: 100, key: `k${limitRpm}` }))
      t.equal(granted, Math.min(limitRpm, 10), `${limitRpm} a minute`)
    }
  })

  t.test(`${kind}: a state far in the future is reset to a full window, which then drains`, async (t) => {
    const { authority, state } = await open(t, kind)
    await state.redis.set(KEY, String((Date.now() + 3_600_000) * 1000))
    const refused = await authority.lend(ask({ limitRpm: 6_000 }))
    t.equal(refused.granted, 0)
    t.ok(refused.retryAfterMs <= 11, 'one token of 6000/min')
    t.ok(
      Number(await state.redis.get(KEY)) < (Date.now() + 60_000) * 1000,
      'the state itself was brought back',
    )
  })

  t.test(`${kind}: a state that is not a number is ignored`, async (t) => {
    const { authority, state } = await open(t, kind)
    await state.redis.set(KEY, 'rubbish')
    t.match(await authority.lend(ask({ want: 60 })), { granted: 60 })
  })

  t.test(`${kind}: a raised limit takes effect at once`, async (t) => {
    const { authority } = await open(t, kind)
    await authority.lend(ask({ limitRpm: 1 }))
    t.match(await authority.lend(ask({ limitRpm: 1 })), { granted: 0 })
    const raised = await authority.lend(ask({ limitRpm: 60_000, want: 100 }))
    t.ok(raised.retryAfterMs <= 2, 'one token of 60000/min')
  })

  t.test(`${kind}: flushed scripts and a flushed database do not fail`, async (t) => {
    const { authority, state } = await open(t, kind)
    const once = ask({ limitRpm: 1 })
    await authority.lend(once)
    await state.redis.script('FLUSH')
    t.match(await authority.lend(once), { granted: 0 }, 'the script is loaded again')
    await state.redis.flushall()
    t.match(await authority.lend(once), { granted: 1 }, 'one more burst')
  })

  t.test(`${kind}: concurrent requests are all answered, also right after a script flush`, async (t) => {
    const { authority, state } = await open(t, kind)
    await state.redis.script('FLUSH')
    const asks = Array.from({ length: 200 }, (_, i) =>
      authority.lend(ask({ key: `key-${i % 50}`, limitRpm: 2, burst: 1 })),
    )
    const granted = (await Promise.all(asks)).reduce((sum, grant) => sum + grant.granted, 0)
    t.equal(granted, 50, 'fifty keys, a burst of one each')
  })

  t.test(`${kind}: the state of a key expires when its window is empty`, async (t) => {
    const { authority, state } = await open(t, kind)
    const { resetAfterMs } = await authority.lend(ask({ limitRpm: 1 }))
    const lifeMs = await state.redis.pttl(KEY)
    t.ok(lifeMs > 0 && lifeMs <= resetAfterMs, `${lifeMs} of ${resetAfterMs} ms`)
  })

  t.test(
    `${kind}: waits for a frozen Redis no longer than the caller allows, and uses it again after it thaws`,
    async (t) => {
      const { authority, redis } = await open(t, kind)
      await authority.lend(ask({}))
      redis.freeze()
      await t.rejects(authority.lend(ask({ waitMsMax: 20 })), /in time/)
      t.equal(authority.isReachable, false, 'the breaker is open')
      redis.thaw()
      await reachable(authority)
      t.match(await authority.lend(ask({})), { granted: 1 })
    },
  )

  t.test(`${kind}: requests to a stopped Redis fail at once, and succeed after its restart`, async (t) => {
    const { authority, redis } = await open(t, kind)
    await redis.kill()
    await t.rejects(authority.lend(ask({})))
    await redis.start()
    await reachable(authority)
    t.match(await authority.lend(ask({})), { granted: 1 })
  })
}

t.test('a socket that accepts connections and never answers does not count as reachable', async (t) => {
  const folder = temporaryFolder(t, 'redis')
  const socketPath = join(folder, 'silent.sock')
  const accepted: (() => void)[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.resume()
    accepted.splice(0).forEach((tell) => tell())
  }).listen(socketPath)
  t.teardown(() => server.close())
  const state = openState({ url: null, socketPath, log: SILENT })
  t.teardown(() => state.close())
  // The second connection proves that the first was given up.
  for (let i = 0; i < 2; i += 1) await new Promise<void>((resolve) => accepted.push(resolve))
  t.equal(state.isReachable, false)
  await t.rejects(openRateAuthority(state).lend(ask({ waitMsMax: 20 })))
})

t.test('a Redis that was never reachable throws nothing', async (t) => {
  const state = openState({ url: null, socketPath: '/nonexistent/redis.sock', log: SILENT })
  t.teardown(() => state.close())
  t.equal(await state.whenReachable(50), false)
  await t.rejects(openRateAuthority(state).lend(ask({})))
})

const KEY = 'sluice:rate:{key}'

function ask(more: Partial<Parameters<RateAuthority['lend']>[0]>): Parameters<RateAuthority['lend']>[0] {
  const { limitRpm = 600 } = more
  const burst = burstOf(limitRpm)
  return { key: 'key', limitRpm, burst, want: 1, giveBack: 0, waitMsMax: PATIENT, ...more }
}

async function open(
  t: Parameters<typeof openTestRedis>[0],
  kind: RedisKind,
): Promise<{ state: State; authority: RateAuthority; redis: TestRedis }> {
  const redis = await openTestRedis(t, kind)
  const state = await openPatientState(t, redis)
  return { state, authority: openRateAuthority(state), redis }
}

async function reachable(authority: RateAuthority): Promise<void> {
  await until(() => authority.isReachable)
}
