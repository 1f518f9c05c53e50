import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEPLOYMENT_OPTIONS_TEXT, readDeploymentOptions } from '../../../bench/deployment/options.ts'
import { isLoopback } from '../../../bench/deployment/origin.ts'
import { requestsOf, secondsOf, summaryOf } from '../../../bench/deployment/plan.ts'

const KEY = 'sk-options-0123'
const read = (target: string, ...more: readonly string[]): ReturnType<typeof readDeploymentOptions> =>
  readDeploymentOptions(['--target', target, '--key', KEY, ...more])

t.test('--target accepts an origin with or without the path of the API, and nothing else', async (t) => {
  for (const target of [
    'https://sluice.example',
    'https://sluice.example/',
    'https://SLUICE.example:443/api/v1',
    'https://sluice.example/api/v1/',
  ])
    t.match(read(target), {
      origin: {
        text: 'https://sluice.example',
        hostname: 'sluice.example',
        port: 443,
        isTls: true,
        authority: 'sluice.example',
      },
    })
  t.match(read('http://[::1]:8080'), {
    origin: { hostname: '::1', port: 8_080, authority: '[::1]:8080', isTls: false },
  })
  const wrong = [
    'sluice.example',
    'ftp://a.example',
    'https://a:b@a.example',
    'https://a.example/other',
    'https://a.example/?a=b',
    'file:///etc',
  ]
  for (const target of wrong) t.type(read(target), 'string', target)
  t.notMatch(read('https://a:secret@sluice.example'), /secret/)
})

t.test('reads a key from a file too, and refuses a key with a line break without printing it', async (t) => {
  const file = join(t.testdir({}), 'key')
  writeFileSync(file, `${KEY}\n`)
  t.match(readDeploymentOptions(['--target', 'https://a.example', '--key', `@${file}`]), { key: KEY })
  t.match(
    readDeploymentOptions(['--target', 'https://a.example', '--key', `@${file}.not`]),
    /--key: the file cannot be read/,
  )
  t.equal(
    readDeploymentOptions(['--target', 'https://a.example', '--key', 'a\r\nx: y']),
    '--key takes an API key of printable characters, or @FILE',
  )
  t.match(readDeploymentOptions(['--target', 'https://a.example']), /needs the --key/)
  t.match(readDeploymentOptions(['--key', KEY]), /--target takes the origin/)
})

t.test('rate, duration, connections and size each have a maximum, and so does the whole test', async (t) => {
  for (const over of [
    ['--rate', '2001'],
    ['--duration', '301'],
    ['--connections', '65'],
    ['--payload', '21MB'],
  ]) {
    t.type(read('https://a.example', ...over), 'string')
  }
  t.match(
    read('https://a.example', '--duration', '300', '--repeats', '20'),
    /this would take up to \d+ s, and 1800 s is the most/,
  )
  t.match(
    DEPLOYMENT_OPTIONS_TEXT,
    /never more than 2000 requests per second, 64 connections, 300 s a cell and 1800 s in all/,
  )
})

t.test('the summary names the load, the target, the duration and the maximum, never the key', async (t) => {
  const options = read(
    'https://a.example',
    '--only',
    'embeddings',
    '--rate',
    '100',
    '--duration',
    '10',
    '--repeats',
    '2',
  )
  if (typeof options === 'string') throw new Error(options)
  t.same([secondsOf(options), requestsOf(options)], [20, 5 + 2 * 1_001])
  t.equal(
    summaryOf(options),
    'load test of https://a.example: embeddings; at most 100 requests per second on 8 connections, up to 20 s, ' +
      'at most 2007 requests; nothing is written; embeddings of sluice/lexical-1 are computed, and charged as the catalogue says',
  )
  const all = read('https://a.example', '--allow-writes')
  t.match(
    typeof all === 'string' ? all : summaryOf(all),
    /embeddings, latency, operations, uploads; .*files are written and removed again/,
  )
})

t.test('recognizes addresses of this machine', async (t) => {
  t.same(
    ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '10.0.0.1', '128.0.0.1', '::2'].map(isLoopback),
    [true, true, true, true, false, false, false],
  )
})
