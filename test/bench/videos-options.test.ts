import t from 'tap'
import { readVideosOptions } from '../../bench/videos/options.ts'

t.test('the default is 64 connections against both queues', async (t) => {
  t.match(readVideosOptions([]), {
    seconds: 2,
    repeats: 5,
    connections: 64,
    only: ['sluice', 'bullmq', 'pg-boss'],
    json: null,
  })
})

t.test('one target can be measured alone, and an unknown one is refused by its name', async (t) => {
  t.match(readVideosOptions(['--only', 'sluice']), { only: ['sluice'] })
  t.match(
    readVideosOptions(['--only', 'celery']),
    /^--only takes some of sluice,bullmq,pg-boss, not 'celery'$/,
  )
})

t.test('--record requires the name of a file', async (t) => {
  t.match(readVideosOptions(['--record', 'a.json']), { json: 'a.json' })
  t.equal(readVideosOptions(['--record=']), "--record takes a file, not ''")
})
