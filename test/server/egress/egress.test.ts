import t from 'tap'
import { randomBytes } from 'node:crypto'
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib'
import { nameOf, rigged } from '../../support/egress/egress-rig.ts'
import { atPace } from '../../support/load/pace.ts'
import {
  answers,
  hangsUp,
  neverAnswers,
  redirects,
  refuses,
  resetsInBody,
  sends,
  sendsBrokenGzip,
  sendsHuge,
  stallsInBody,
  truncatesBody,
  type Behaviour,
} from '../../support/embeddings/provider-behaviours.ts'

const SLOW_MS = 60

/** A client gives a connection back to its pool one turn after the answer. */
async function turn(): Promise<void> {
  for (let nth = 0; nth < 3; nth++) await new Promise((next) => setImmediate(next))
}

t.test('an answer is held until it is released, and released once', async (t) => {
  const { call, egress } = await rigged(t)
  const outcome = await call()
  if (!outcome.ok) throw new Error(outcome.failure.name)
  t.equal(egress.load.heldBytes, outcome.value.body.length)
  outcome.value.release()
  outcome.value.release()
  t.equal(egress.load.heldBytes, 0)
})

t.test('reuses a kept-alive connection', async (t) => {
  const { call, provider } = await rigged(t)
  for (let nth = 0; nth < 5; nth++) {
    await call()
    await turn()
  }
  t.equal(provider.connections.total, 1)
})

const misbehaviours: readonly (readonly [string, Behaviour, string])[] = [
  ['that never answers is upstream_slow', neverAnswers, 'upstream_slow'],
  ['that stalls in its body is upstream_slow', stallsInBody, 'upstream_slow'],
  ['that resets in its body is upstream_failed', resetsInBody, 'upstream_failed'],
  ['that ends its body early is upstream_failed', truncatesBody, 'upstream_failed'],
  ['that hangs up is upstream_failed', hangsUp, 'upstream_failed'],
  ['that announces 10 GB is upstream_too_large', sendsHuge(true), 'upstream_too_large'],
  ['that sends 10 GB unannounced is upstream_too_large', sendsHuge(false), 'upstream_too_large'],
  ['that sends broken gzip is upstream_invalid', sendsBrokenGzip, 'upstream_invalid'],
  [
    'that answers in an encoding we do not know is upstream_invalid',
    answers({ contentEncoding: 'zstd' }),
    'upstream_invalid',
  ],
  ['that redirects is answered as it is', redirects, 'answer 307'],
  ['that overloads is answered as it is', refuses(529), 'answer 529'],
]
for (const [title, behaviour, expected] of misbehaviours) {
  t.test(`a provider ${title}, and nothing stays held, with either client`, async (t) => {
    for (const isLean of [true, false]) {
      const { call, provider, rest } = await rigged(t, undefined, isLean)
      const isSlow = expected === 'upstream_slow'
      provider.usually(behaviour)
      await atPace(SLOW_MS, async (ms) => {
        const outcome = await call(isSlow ? { attemptEndsAt: performance.now() + ms } : {})
        // Its time was over before it was sent.
        if (isSlow && nameOf(outcome) === 'busy') return false
        t.equal(nameOf(outcome), expected)
        if (outcome.ok) outcome.value.release()
        return true
      })
      t.same(await rest(), { heldBytes: 0, calls: 0 })
    }
  })
}

t.test('a provider that cannot be reached is upstream_failed', async (t) => {
  const { call, provider, rest } = await rigged(t)
  await provider.close()
  t.equal(nameOf(await call()), 'upstream_failed')
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

for (const contentEncoding of ['gzip', 'deflate', 'br'] as const) {
  t.test(`decodes ${contentEncoding} that was not requested`, async (t) => {
    const { call, provider, egress } = await rigged(t)
    provider.script(answers({ contentEncoding, dimensions: 2000 }), answers({ dimensions: 2000 }))
    const [encoded, plain] = [await call(), await call()]
    if (!encoded.ok || !plain.ok) throw new Error('both answer')
    t.equal(Buffer.from(encoded.value.body).toString(), Buffer.from(plain.value.body).toString())
    t.equal(
      egress.load.heldBytes,
      encoded.value.body.length + plain.value.body.length,
      'what it was decoded from is gone',
    )
  })
}

t.test('decodes deflate without the zlib header, which some servers send', async (t) => {
  const { call, provider } = await rigged(t)
  const body = deflateRawSync('{"a":1}')
  provider.script(({ res }) => void res.writeHead(200, { 'content-encoding': 'deflate' }).end(body))
  const outcome = await call()
  t.equal(outcome.ok && Buffer.from(outcome.value.body).toString(), '{"a":1}')
})

t.test('the size limit also applies to a small body that is large when decoded', async (t) => {
  const { call, provider, rest } = await rigged(t)
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
  provider.script(({ res }) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  t.equal(nameOf(await call()), 'upstream_too_large')
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

t.test('only the first 64 KiB of a long error body are read', async (t) => {
  const { call, provider, rest } = await rigged(t)
  provider.script(({ res }) => void res.writeHead(500).end(Buffer.alloc(5 * 1024 * 1024, 'x')))
  const outcome = await call()
  if (!outcome.ok) throw new Error(outcome.failure.name)
  t.ok(outcome.value.body.length >= 65_536 && outcome.value.body.length < 1024 * 1024)
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

for (const [encoding, encode] of [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const) {
  t.test(`a long error body in ${encoding} keeps its status and its Retry-After`, async (t) => {
    const { call, provider, rest } = await rigged(t)
    const long = encode(randomBytes(512 * 1024))
    provider.script(({ res }) => {
      res.writeHead(429, { 'content-encoding': encoding, 'retry-after': '7' }).end(long)
    })
    t.match(await call(), { ok: true, value: { status: 429, retryAfter: '7' } })
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  })
}

t.test('a chunked answer in many pieces is returned as one', async (t) => {
  const { call, provider } = await rigged(t)
  provider.script(answers({ dimensions: 20_000, chunkBytes: 1000 }), answers({ dimensions: 20_000 }))
  const [chunked, plain] = [await call(), await call()]
  if (!chunked.ok || !plain.ok) throw new Error('both answer')
  t.same(chunked.value.body, plain.value.body)
})

t.test('an answer too large to be copied into place is whole, with or without a length', async (t) => {
  const { call, provider, egress } = await rigged(t)
  const large = Buffer.alloc(9 * 1024 * 1024, '0123456789')
  provider.script(sends(large), ({ res }) => void res.writeHead(200).end(large))
  for (let nth = 0; nth < 2; nth++) {
    const outcome = await call({ answerBytesMax: 16 * 1024 * 1024 })
    if (!outcome.ok) throw new Error(outcome.failure.name)
    t.ok(large.equals(outcome.value.body))
    outcome.value.release()
  }
  t.equal(egress.load.heldBytes, 0)
})

t.test('a large request body is sent in its parts, in order, with its length', async (t) => {
  const { call, provider } = await rigged(t)
  const slice = Buffer.from(JSON.stringify('x'.repeat(3 * 1024 * 1024)))
  const head = Buffer.from('{"model":"m","input":')
  t.equal(nameOf(await call({ body: [head, slice, Buffer.from('}')] })), 'answer 200')
  t.equal(provider.calls[0]?.text.length, head.length + slice.length + 1)
  t.equal(provider.calls[0]?.headers['content-length'], String(head.length + slice.length + 1))
})

t.test('a kept-alive connection that turns out to be closed is replaced once', async (t) => {
  const { call, provider } = await rigged(t)
  provider.script(answers(), hangsUp)
  await call()
  await turn()
  t.equal(nameOf(await call()), 'answer 200')
  t.equal(provider.calls.length, 3)
})

t.test('a closed connection is not replaced twice, nor for a request that may not be repeated', async (t) => {
  const { call, provider } = await rigged(t)
  provider.script(answers(), hangsUp, hangsUp, answers(), hangsUp)
  await call()
  await turn()
  t.equal(nameOf(await call()), 'upstream_failed')
  await call()
  await turn()
  t.equal(nameOf(await call({ mayRepeat: false })), 'upstream_failed')
  t.equal(provider.calls.length, 5)
})

for (const isAnnounced of [true, false]) {
  t.test(
    `an answer ${isAnnounced ? 'of known length' : 'of unknown length'} waits for room and is then returned whole`,
    async (t) => {
      const body = Buffer.alloc(600_000, 'y')
      const { call, provider, rest } = await rigged(t, 1_000_000)
      provider.usually(isAnnounced ? sends(body) : ({ res }) => void res.writeHead(200).end(body))
      const first = await call()
      const second = call()
      if (!first.ok) throw new Error(first.failure.name)
      setTimeout(first.value.release, 20)
      const outcome = await second
      if (!outcome.ok) throw new Error(outcome.failure.name)
      t.ok(body.equals(outcome.value.body))
      outcome.value.release()
      t.same(await rest(), { heldBytes: 0, calls: 0 })
    },
  )
}

t.test(
  'of two answers that could wait for each other forever, one is returned whole and the other is busy',
  async (t) => {
    const { call, provider, egress, rest } = await rigged(t, 1_000_000)
    const half = Buffer.alloc(400_000, 'y')
    const ends: (() => void)[] = []
    provider.usually(({ res }) => {
      res.writeHead(200).write(half)
      ends.push(() => void res.end(half))
    })
    const outcomes = [call(), call()]
    while (egress.load.heldBytes < 2 * half.length) await new Promise((next) => setImmediate(next))
    for (const end of ends) end()
    const names = (await Promise.all(outcomes)).map((outcome) => {
      if (outcome.ok) outcome.value.release()
      return nameOf(outcome)
    })
    t.same(names.sort(), ['answer 200', 'busy'])
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  },
)

t.test('an answer that gets no room before its attempt ends is busy', async (t) => {
  const { call, provider, rest } = await rigged(t, 1_000_000)
  provider.usually(sends(Buffer.alloc(600_000, 'y')))
  const first = await call()
  await atPace(4 * SLOW_MS, async (ms) => {
    const name = nameOf(await call({ attemptEndsAt: performance.now() + ms }))
    // Until the headers arrive, the size of the answer is unknown.
    if (name === 'upstream_slow') return false
    t.equal(name, 'busy')
    return true
  })
  if (first.ok) first.value.release()
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

t.test(
  'under a random mix of answers, faults and disconnecting callers every call settles and nothing stays held',
  async (t) => {
    const { call, provider, rest } = await rigged(t, 300_000)
    const mix = [
      answers(),
      answers({ dimensions: 3000 }),
      hangsUp,
      resetsInBody,
      refuses(500),
      sendsBrokenGzip,
      stallsInBody,
      neverAnswers,
    ]
    provider.script(
      ...Array.from({ length: 200 }, (_, nth) => mix[(nth * 7 + (nth >> 3)) % mix.length] ?? answers()),
    )
    const outcomes = await Promise.all(
      Array.from({ length: 150 }, async (_, nth) => {
        const caller = new AbortController()
        if (nth % 5 === 0) setTimeout(() => caller.abort(), nth % 13)
        const outcome = await call({
          call: caller,
          mayCutSent: nth % 2 === 0,
          attemptEndsAt: performance.now() + SLOW_MS + nth,
        })
        if (outcome.ok) outcome.value.release()
        return outcome
      }),
    )
    t.equal(outcomes.length, 150)
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  },
)
