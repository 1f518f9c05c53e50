/** What an attempt may still do with a connection that the next exchange has. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import { Attempt } from '../../../src/server/egress/attempt.ts'
import { NO_BREAKAGE, type Line, type ResponseHead } from '../../../src/server/egress/handler.ts'
import { StreamAttempt } from '../../../src/server/egress/stream.ts'
import type { EgressExchangeRequest } from '../../../src/server/ports/egress/egress.ts'
import { nameOf, request } from '../../support/egress/egress-rig.ts'

const PACKED = gzipSync('{}')
const HEAD: ResponseHead = {
  status: 200,
  contentLength: PACKED.length,
  contentEncoding: 'gzip',
  retryAfter: null,
  list: () => ['content-length', String(PACKED.length)],
}

/** Counts what is done to a connection. */
function lineOf(): Line & { uses: string[] } {
  const uses: string[] = []
  return { isLent: true, uses, cut: () => uses.push('cut'), resume: () => uses.push('resume') }
}

t.test('a deadline that expires while an answer is decoded does not cut the connection', async (t) => {
  const ended: string[] = []
  const home = {
    budget: new AnswerBudget(2 ** 20),
    repeat: () => undefined,
    settled: () => undefined,
    ended: () => ended.push('ended'),
  }
  const line = lineOf()
  const outcome = await new Promise<Parameters<typeof nameOf>[0]>((settle) => {
    const attempt = new Attempt(request(), home, settle)
    attempt.onConnect(line)
    attempt.onHead(HEAD)
    attempt.onData(PACKED)
    attempt.onComplete()
    attempt.timeUp()
  })
  t.equal(nameOf(outcome), 'upstream_slow')
  t.same([line.uses, ended], [[], ['ended']])
})

for (const [title, finish] of [
  ['whole', (attempt: StreamAttempt) => attempt.onComplete()],
  ['broken', (attempt: StreamAttempt) => attempt.onError(new Error('gone'), NO_BREAKAGE)],
] as const)
  t.test(`a reader that closes a stream which is ${title} does not cut the connection`, async (t) => {
    const home = { budget: new AnswerBudget(0), repeatStream: () => undefined, streamEnded: () => undefined }
    const asked: EgressExchangeRequest = {
      ...request(),
      bodyBytes: null,
      beginsBy: () => performance.now() + 60_000,
      stallMs: 60_000,
      signal: new AbortController().signal,
      aheadBytesMax: 1,
    }
    const line = lineOf()
    await new Promise<void>((begun) => {
      const attempt = new StreamAttempt(asked, home, () => begun())
      attempt.onConnect(line)
      attempt.onHead(HEAD)
      t.equal(attempt.onData(PACKED), false)
      finish(attempt)
      attempt.close()
    })
    t.same(line.uses, [])
  })
