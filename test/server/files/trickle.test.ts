/** Uploads that announce much and bring next to nothing hold neither a place nor quota for long. */
import t from 'tap'
import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import { BODY_PACE_MS, BODY_STALL_MS } from '../../../src/schemas/limits/limits.ts'
import { Timers } from '../../../src/server/http/timers.ts'
import type { IntakeSession } from '../../../src/server/ports/files/intake.ts'
import { openTransfers } from '../../support/files/transfers.ts'
import { answerOf, beginUpload, filePart, form, sendForm } from '../../support/files/upload-echo.ts'
import { pause, until } from '../../support/wait.ts'

const STEP_MS = BODY_STALL_MS / 2

t.test('an upload that trickles is ended, and the quota that it announced is free again', async (t) => {
  const clock = { now: 0 }
  const timers = new Timers(() => clock.now)
  const ended: { atMs: number | null } = { atMs: null }
  const stand = await openTransfers(t, {
    http: { timers },
    files: { quotaBytes: 50_000_000 },
    wrap: (parts) => ({
      ...parts,
      intake: { open: (input) => told(parts.intake.open(input), () => (ended.atMs ??= clock.now)) },
    }),
  })
  const begin = form([filePart('x'.repeat(10_000))]).subarray(0, 9_000)
  const client = beginUpload(stand.port, 50_000_000)
  client.send(begin)
  await until(async () => stand.sessions.load.intakes === 1)
  t.ok((await stand.census()).reservedBytes > 49_000_000)
  t.equal((await sendForm(stand.port, form([filePart('a'.repeat(10_000))]))).type, 'quota_exceeded')
  ended.atMs = null
  let steps = 0
  for (let isOver = false; !isOver; steps++) {
    client.send('x')
    await pause(150)
    clock.now += STEP_MS
    await pause(150)
    isOver = ended.atMs !== null || steps > 50
  }
  t.ok(Math.abs((ended.atMs ?? 0) - BODY_PACE_MS) <= 2 * STEP_MS, `${ended.atMs} ms, ${steps} steps`)
  // What is read away of its body has a time of its own.
  const moving = setInterval(() => (clock.now += 1_000), 20)
  t.match(await answerOf(client), { status: 408, type: 'body_slow' })
  clearInterval(moving)
  await stand.front.untilSettled(2)
  t.match(await stand.census(), { ready: 0, pending: 0, reservedBytes: 0, usedBytes: 0 })
  t.equal((await sendForm(stand.port, form([filePart('a'.repeat(10_000))]))).status, 200)
})

/** A session that tells when it is given up, in the turn of that: its thread, and the answer, come later. */
function told(opened: Outcome<IntakeSession>, ended: () => unknown): Outcome<IntakeSession> {
  if (!opened.ok) return opened
  const session = opened.value
  const cancel = (): Promise<void> => {
    ended()
    return session.cancel()
  }
  return ok({
    push: (bytes) => session.push(bytes),
    onRoom: (room) => session.onRoom(room),
    onFailure: (failed) => session.onFailure(failed),
    finish: () => session.finish(),
    cancel,
  })
}
