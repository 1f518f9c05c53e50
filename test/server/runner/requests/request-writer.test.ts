import t from 'tap'
import { REQUESTS_LOOK_MS } from '../../../../src/schemas/requests/request-limits.ts'
import type { RequestBatch } from '../../../../src/schemas/requests/request-record.ts'
import { REQUESTS_COMPARE_MS, RequestWriter } from '../../../../src/server/runner/requests/request-writer.ts'
import { JOINED_MS_MAX, STEP_MS } from '../../../../src/server/structures/ticks.ts'
import { keptLog } from '../../../support/log.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'

class Away extends Error {}

function stand({ isOn = true } = {}) {
  const files = new Map<string, RequestBatch | readonly RequestBatch[] | null>()
  const log = keptLog()
  const counts = { spilled: 0, written: 0, recovered: 0, lost: 0 }
  const state = {
    nowMs: 0,
    compared: 0,
    passedOver: 0,
    isBehind: false,
    insert: (batch: RequestBatch) => batch.requestIds.length,
  }
  const writer = new RequestWriter({
    spill: {
      list: async () => [...files.keys()],
      read: async (name) => {
        const found = files.get(name) ?? null
        return found !== null && 'id' in found ? [found] : found
      },
      remove: async (name) => void files.delete(name),
    },
    rows: {
      insert: async (batch) => state.insert(batch),
      recover: async () => ({ recovered: ++state.compared, isBehind: state.isBehind }),
      passOver: async () => void state.passedOver++,
    },
    isOn,
    count: (outcome, calls) => (counts[outcome] += calls),
    log,
    isAway: (problem) => problem instanceof Away,
    now: () => state.nowMs,
  })
  return { files, log, counts, state, writer }
}

t.test('while the store is unavailable, batches stay in their files, and one line is logged', async (t) => {
  const { files, counts, state, log, writer } = stand()
  files.set('a', batchOfCalls({}, {})).set('b', batchOfCalls({}))
  state.insert = () => {
    throw new Away()
  }
  for (const _ of [1, 2, 3]) await writer.look()
  t.same([[...files.keys()], counts.written, counts.lost], [['a', 'b'], 0, 0])
  t.same(
    log.events.map(({ event }) => event),
    ['requests.away'],
  )
  state.insert = ({ requestIds }) => requestIds.length
  await writer.look()
  t.same([files.size, counts.written], [0, 3])
})

t.test('a batch that is damaged or permanently refused by the store does not hold back others', async (t) => {
  const { files, counts, state, log, writer } = stand()
  files
    .set('a', null)
    .set('b', batchOfCalls({ requestId: 'bad' }, {}))
    .set('c', batchOfCalls({}))
  state.insert = ({ requestIds }) => {
    if (requestIds.includes('bad')) throw new Error('a bug')
    return requestIds.length
  }
  await writer.look()
  t.same([files.size, counts.written, counts.lost], [0, 1, 3])
  t.same(
    log.events.map(({ event }) => event),
    ['requests.batch_damaged', 'requests.batch_refused'],
  )
})

t.test('the request log is compared with the ledger at intervals, not right after an outage', async (t) => {
  const { files, state, counts, writer } = stand()
  await writer.look()
  t.equal(state.compared, 0)
  state.nowMs = REQUESTS_COMPARE_MS
  await writer.look()
  t.same([state.compared, counts.recovered], [1, 1])
  files.set('a', batchOfCalls({}))
  state.nowMs = 2 * REQUESTS_COMPARE_MS
  state.insert = () => {
    throw new Away()
  }
  await writer.look()
  state.insert = () => 1
  await writer.look()
  t.equal(state.compared, 1, 'fronts first write down what they have kept')
  state.nowMs = 3 * REQUESTS_COMPARE_MS
  await writer.look()
  t.equal(state.compared, 2)
})

t.test('a disabled request log recovers nothing from the ledger, and writes remaining batches', async (t) => {
  const { files, state, counts, writer } = stand({ isOn: false })
  files.set('a', batchOfCalls({}))
  state.nowMs = REQUESTS_COMPARE_MS
  for (const _ of [1, 2]) await writer.look()
  t.same([state.compared, state.passedOver, counts.written], [0, 1, 1])
})

t.test('after downtime of all nodes, each turn compares the request log until it is complete', async (t) => {
  const { state, writer } = stand()
  state.nowMs = REQUESTS_COMPARE_MS
  state.isBehind = true
  for (const _ of [1, 2, 3]) await writer.look()
  t.equal(state.compared, 3)
  state.isBehind = false
  for (const _ of [1, 2]) await writer.look()
  t.same([state.compared, state.passedOver], [4, 0])
})

t.test('turns do not wake an idle process: they share the wake-ups of other timers', async (t) => {
  t.ok(REQUESTS_LOOK_MS % STEP_MS === 0 && REQUESTS_LOOK_MS <= JOINED_MS_MAX)
})

t.test('ending the writer leaves batches that it has not begun in their files', async (t) => {
  const { files, state, writer } = stand()
  files.set('a', batchOfCalls({})).set('b', batchOfCalls({}))
  state.insert = () => {
    writer.end()
    return 1
  }
  await writer.look()
  t.same([...files.keys()], ['b'])
})

t.test(
  'a file with several batches stays until all of them are written, and a deleted file is not counted as lost',
  async (t) => {
    const { files, counts, state, log, writer } = stand()
    files
      .set('gone', [])
      .set('joined', [batchOfCalls({ requestId: 'a' }), batchOfCalls({ requestId: 'b' }, {})])
    state.insert = ({ requestIds }) => {
      if (requestIds.includes('b')) throw new Away()
      return requestIds.length
    }
    await writer.look()
    t.same([[...files.keys()], counts.written], [['joined'], 1])
    state.insert = ({ requestIds }) => (requestIds.includes('a') ? 0 : requestIds.length)
    await writer.look()
    t.match(counts, { written: 3, lost: 0 })
    t.same([files.size, log.events.length], [0, 1])
  },
)
