import t from 'tap'
import { readLadderOptions } from '../../../bench/ladder/options.ts'
import { CHAT_PARTS, PARTS, rungsOf, SUBJECT_NAMES } from '../../../bench/ladder/rungs.ts'

t.test('each rung has the parts of the one below and one more', async (t) => {
  const rungs = rungsOf(SUBJECT_NAMES).filter(({ part }) => part.name !== 'tracing')
  t.equal(rungs.length, PARTS.length)
  rungs.forEach(({ parts, part, below }, at) => {
    const under = rungs[at - 1]
    t.same(parts, [...(under?.parts ?? []), part.name])
    t.equal(below, under?.subject ?? 'relay')
  })
})

t.test('optional parts of a node are added on top of the whole front', async (t) => {
  const tracing = rungsOf(SUBJECT_NAMES).at(-1)
  t.match(tracing, { subject: 'sluice-to-tracing', below: 'sluice-to-requests' })
  t.equal(tracing?.parts.length, PARTS.length + 1)
})

t.test('the rung above a missing one compares with the next lower one, and keeps all parts', async (t) => {
  const [first, second] = rungsOf(['access', 'money'])
  t.match(first, { subject: 'sluice-to-access', below: null, parts: ['head', 'access'] })
  t.match(second, { below: 'sluice-to-access' })
  t.ok(second?.parts.includes('scan'))
})

t.test('options have defaults, and a wrong one is reported in one line', async (t) => {
  t.match(readLadderOptions([]), { seconds: 2, repeats: 5, connections: 48, dimensions: 8, json: null })
  t.match(readLadderOptions(['--only', 'sluice,relay', '--dimensions', '1536']), {
    dimensions: 1_536,
    only: ['relay', 'sluice'],
  })
  t.match(
    readLadderOptions(['--only', 'apache']),
    /^--only takes some of relay,lean-relay,head,access,[^\n]*$/,
  )
})

t.test('a ladder of chat has no scan of vectors, and keeps the record of each call', async (t) => {
  const names = CHAT_PARTS.map(({ name }) => name)
  t.notOk(names.includes('scan'))
  t.equal(names[names.indexOf('ledger') + 1], 'record')
  const splice = rungsOf(SUBJECT_NAMES, 'event').find(({ part }) => part.name === 'splice')
  t.equal(splice?.below, 'sluice-to-egress')
})

t.test('--chat replaces embeddings, with the number of connections of the scenario chat', async (t) => {
  t.match(readLadderOptions([]), { calls: ['embeddings'], connections: 48 })
  t.match(readLadderOptions(['--chat', 'event,whole']), {
    calls: ['whole', 'event'],
    connections: 32,
    streams: 100,
  })
  t.match(readLadderOptions(['--chat', 'whole', '--connections', '8']), { calls: ['whole'], connections: 8 })
  t.match(readLadderOptions(['--chat', 'words']), /^--chat takes some of whole,event, not 'words'$/)
})
