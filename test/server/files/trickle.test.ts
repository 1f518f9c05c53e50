/** Uploads that announce much and bring next to nothing hold neither a place nor quota for long. */
import t from 'tap'
import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import { BODY_PACE_MS, BODY_STALL_MS } from '../../../src/schemas/limits/limits.ts'
import type { IntakeSession } from '../../../src/server/ports/files/intake.ts'
import { openTransfers } from '../../support/files/transfers.ts'
import { answerOf, beginUpload, filePart, form, sendForm } from '../../support/files/upload-echo.ts'
import { movedTimers, type MovedTimers } from '../../support/moved-timers.ts'
import { until } from '../../support/wait.ts'

const STEP_MS = BODY_STALL_MS / 2

t.test('an upload that is too slow is ended, and the quota that it reserved is released', async (t) => {
  const time = movedTimers()
  const seen: Seen = { bytes: 0, endedAt: null }
  const stand = await openTransfers(t, {
    http: { timers: time.timers },
    files: { quotaBytes: 50_000_000 },
    wrap: (parts) => ({
      ...parts,
      intake: { open: (input) => watched(parts.intake.open(input), seen, time) },
    }),
  })
  const begin = form([filePart('x'.repeat(10_000))]).subarray(0, 9_000)
  const client = beginUpload(stand.port, 50_000_000)
  client.send(begin)
  await until(async () => stand.sessions.load.intakes === 1)
  t.ok((await stand.census()).reservedBytes > 49_000_000)
  t.equal((await sendForm(stand.port, form([filePart('a'.repeat(10_000))]))).type, 'quota_exceeded')
  const isOver = (): boolean => seen.endedAt !== null
  seen.endedAt = null
  for (let steps = 0; !isOver() && steps < 50; steps++) {
    const before = seen.bytes
    client.send('x')
    // A byte is handed on with a turn of the wheel after its arrival.
    await until(async () => {
      await time.pass(0)
      return isOver() || seen.bytes > before
    })
    await time.pass(STEP_MS)
  }
  t.ok(Math.abs((seen.endedAt ?? 0) - BODY_PACE_MS) <= 2 * STEP_MS, `ended at ${seen.endedAt} ms`)
  // What is read away of its body has a time of its own.
  await until(async () => {
    await time.pass(STEP_MS)
    return client.text !== ''
  })
  t.match(await answerOf(client), { status: 408, type: 'body_slow' })
  await stand.front.untilSettled(2)
  t.match(await stand.census(), { ready: 0, pending: 0, reservedBytes: 0, usedBytes: 0 })
  t.equal((await sendForm(stand.port, form([filePart('a'.repeat(10_000))]))).status, 200)
})

interface Seen {
  /** Bytes that a session was given. */
  bytes: number
  /** When a session was given up. */
  endedAt: number | null
}

/** Records when a session is given up, in that very turn: its thread and the answer come later. */
function watched(
  opened: Outcome<IntakeSession>,
  seen: Seen,
  time: Pick<MovedTimers, 'now'>,
): Outcome<IntakeSession> {
  if (!opened.ok) return opened
  const session = opened.value
  return ok({
    push(bytes) {
      seen.bytes += bytes.length
      return session.push(bytes)
    },
    onRoom: (room) => session.onRoom(room),
    onFailure: (failed) => session.onFailure(failed),
    finish: () => session.finish(),
    cancel() {
      seen.endedAt ??= time.now
      return session.cancel()
    },
  })
}
