import t from 'tap'
import { AnswerClock } from '../../../../src/server/store/base/answer-clock.ts'
import { gate } from '../../../support/gate.ts'

function open() {
  const time = { ms: 0 }
  return { time, clock: new AnswerClock({ now: () => time.ms }) }
}

t.test('time in which nothing is awaited is no silence', async (t) => {
  const { time, clock } = open()
  time.ms = 60_000
  t.equal(clock.silentMs, 0)
  clock.awaits(new Promise(() => undefined))
  t.equal(clock.silentMs, 0)
  time.ms += 5
  t.equal(clock.silentMs, 5)
})

t.test('silence restarts with each answer, and ends with the last answer that was awaited', async (t) => {
  const { time, clock } = open()
  const [one, two] = [gate(), gate()]
  for (const { opened } of [one, two]) clock.awaits(opened)
  time.ms = 5_000
  one.open()
  await one.opened
  time.ms = 5_007
  t.equal(clock.silentMs, 7)
  two.open()
  await two.opened
  time.ms = 9_000
  t.equal(clock.silentMs, 0)
})
