import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  openDataDirectory,
  type DataDirectory,
} from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import {
  leaveScaleRequest,
  SCALE_REQUESTS_MAX,
  untilScaled,
  ScaleDesk,
} from '../../../../src/server/supervisor/fleet/scale-requests.ts'
import type { ScaleEnd, ScaleInput } from '../../../../src/server/supervisor/fleet/scaling.ts'
import { keptLog, SILENT } from '../../../support/log.ts'
import { turnOfLoop } from '../../../support/nodes/scripted-fleet.ts'

const THREE: ScaleInput = { fronts: 3, workers: null }
const DONE: ScaleEnd = { state: 'done', before: { fronts: 1, workers: 1 }, now: { fronts: 3, workers: 3 } }

t.test(
  'a request is taken once, however often the node looks, answered, and removed by its requester',
  async (t) => {
    const { data, desk, inputs, end } = await openDesk(t)
    const name = leaveScaleRequest(data.path, THREE)
    desk.look()
    desk.look()
    await turnOfLoop()
    t.same(inputs, [THREE])
    end()
    await turnOfLoop()
    desk.look()
    t.same(await untilScaled(data.path, name), DONE)
    t.equal(existsSync(join(data.path, name)), false)
    t.same(inputs, [THREE])
  },
)

t.test('a malformed request is left alone, and does not block others', async (t) => {
  const { data, desk, inputs } = await openDesk(t)
  const odd = ['', '{', 'null', '[]', '{"state":"asked","fronts":"3","workers":null}', '{"state":"done"}']
  for (const [at, text] of odd.entries())
    writeFileSync(join(data.path, `scale-00000000-0000-0000-0000-00000000000${at}.json`), text)
  writeFileSync(join(data.path, 'scale-..json'), '{"state":"asked","fronts":9,"workers":null}')
  leaveScaleRequest(data.path, THREE)
  desk.look()
  t.same(inputs, [THREE])
})

t.test('the number of waiting requests is limited, and unread answers do not accumulate', async (t) => {
  const { data, desk, inputs, end } = await openDesk(t)
  const names = Array.from({ length: SCALE_REQUESTS_MAX + 2 }, () => leaveScaleRequest(data.path, THREE))
  desk.look()
  t.equal(inputs.length, SCALE_REQUESTS_MAX)
  const refused = names.filter((name) =>
    readFileSync(join(data.path, name), 'utf8').includes('16 requests are already waiting'),
  )
  t.equal(refused.length, 2)
  end()
  await turnOfLoop()
  t.equal(data.names('scale-').length, SCALE_REQUESTS_MAX)
})

t.test('answers that cannot be written are logged', async (t) => {
  const log = keptLog()
  const { data } = await openDesk(t)
  const full = {
    ...data,
    writePrivate: () => {
      throw new Error('ENOSPC')
    },
  }
  const desk = new ScaleDesk({ data: full, log, scale: () => Promise.resolve(DONE) })
  leaveScaleRequest(data.path, THREE)
  desk.look()
  await turnOfLoop()
  t.match(log.events, [{ event: 'scale_not_told' }, { event: 'scale_not_told' }])
})

t.test('a node that ends removes requests, and a start finds none', async (t) => {
  const path = join(t.testdir(), 'data')
  const data = await openDataDirectory(path, SILENT)
  const name = leaveScaleRequest(path, THREE)
  data.release()
  t.equal(existsSync(join(path, name)), false)
  t.equal(await untilScaled(path, name), null, 'whoever waits is told')
  leaveScaleRequest(path, THREE)
  const next = await openDataDirectory(path, SILENT)
  t.same(next.names('scale-'), [])
  next.release()
})

t.test(
  'a request written by root can be read by the user of the node',
  { skip: process.geteuid?.() === 0 ? false : 'only root' },
  (t) => {
    const path = t.testdir()
    chownSync(path, 12_345, 12_346)
    const { uid, gid, mode } = statSync(join(path, leaveScaleRequest(path, THREE)))
    t.same([uid, gid, mode & 0o777], [12_345, 12_346, 0o600])
    t.end()
  },
)

/** A desk whose requests end when the test decides. */
async function openDesk(
  t: Test,
): Promise<{ data: DataDirectory; desk: ScaleDesk; inputs: ScaleInput[]; end: () => void }> {
  const data = await openDataDirectory(join(t.testdir(), 'data'), SILENT)
  t.teardown(() => data.release())
  const inputs: ScaleInput[] = []
  const ends: (() => void)[] = []
  const scale = (input: ScaleInput): Promise<ScaleEnd> => {
    inputs.push(input)
    return new Promise((resolve) => ends.push(() => resolve(DONE)))
  }
  return {
    data,
    desk: new ScaleDesk({ data, log: SILENT, scale }),
    inputs,
    end: () => ends.forEach((one) => one()),
  }
}
