import t from 'tap'
import { createLog, textLine } from '../../../src/server/observe/log.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'

t.test('a text line contains local time, level, process, event and fields', (t) => {
  const lines: string[] = []
  const log = createLog({
    level: 'info',
    format: 'text',
    base: { role: 'front', slot: 0, pid: 7 },
    secrets: [new Secret('canary-secret')],
    write: (line) => void lines.push(line),
  })
  log.warn('plain_http_beyond_loopback', { host: '0.0.0.0', fix: 'set "it"\nnow', of: { a: 1 } })
  log.info('kept', { name: 'canary-secret' })
  t.match(
    lines[0],
    /^\d\d:\d\d:\d\d warn {2}front 0: plain_http_beyond_loopback host=0\.0\.0\.0 fix="set \\"it\\"\\nnow" of=\{"a":1\}\n$/,
  )
  t.match(lines[1], /^\d\d:\d\d:\d\d info {2}front 0: kept name=\[secret\]\n$/)
  t.end()
})

t.test('a text line contains no control characters, and only its level is coloured', (t) => {
  const json = JSON.stringify({
    level: 'error',
    time: '2026-01-01T00:00:00Z',
    role: 'runner',
    event: 'e',
    a: '\u001b[2J',
  })
  t.match(textLine(json, true), /^\S+ \u001b\[31merror\u001b\[0m runner: e a="\\u001b\[2J"\n$/)
  t.notMatch(textLine(json, false), /\u001b/)
  t.end()
})
