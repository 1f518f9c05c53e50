import t from 'tap'
import { readChatOptions } from '../../bench/chat/options.ts'

t.test('every option has a default, and the subject itself always runs', async (t) => {
  t.match(readChatOptions([]), { seconds: 6, connections: 100, events: 152, intervalMs: 20, json: null })
  t.match(readChatOptions([]), {
    isTranslated: false,
    // Once: samples of a second one would be taken for those of the first.
    only: ['direct', 'nginx', 'relay', 'portkey', 'sluice'],
  })
  t.match(readChatOptions(['--translated']), { isTranslated: true })
  t.match(readChatOptions(['--against', 'nginx', '--events=10']), { events: 10, only: ['nginx', 'sluice'] })
})

t.test('reports a wrong value in one line', async (t) => {
  t.equal(readChatOptions(['--events', '1']), "--events takes a whole number from 2 to 10000, not '1'")
  t.match(readChatOptions(['--only', 'apache']), /^--only takes some of direct,nginx,relay,sluice,portkey/)
})
