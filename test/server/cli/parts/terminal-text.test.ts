import t, { type Test } from 'tap'
import { reportOf } from '../../../../src/server/cli/operator/doctor.ts'
import { bad } from '../../../../src/server/cli/operator/doctor/finding.ts'
import { stderrLog } from '../../../../src/server/cli/parts/stderr-log.ts'
import { print, table, tell } from '../../../../src/server/cli/parts/verb.ts'

const HOSTILE = '\u001b]0;title\u0007\u001b[2J\u009b2J\u202eok\nproblem'
const SEEN = '?]0;title??[2J?2J?ok?problem'

t.test('a name in a list can neither control the terminal nor start a new line', (t) => {
  t.equal(
    table([
      ['NAME', 'ID'],
      [HOSTILE, '1'],
    ]).split('\n')[1],
    `${SEEN}  1`,
  )
  t.end()
})

t.test('text from a server or another process cannot control the terminal that doctor runs in', (t) => {
  const { text } = reportOf([bad('port', `${HOSTILE} (pid 1) has it`, 'end it')])
  t.match(text.split('\n'), [
    new RegExp(`^problem +port +${SEEN.replaceAll(/[?[]/g, '\\$&')} \\(pid 1\\) has it$`),
    /^ +fix: end it$/,
    '1 problem, 0 warnings',
  ])
  t.end()
})

/** Output to a stream during the call. */
function written(t: Test, stream: 'stdout' | 'stderr', write: () => void): string {
  const captured = t.capture(process[stream], 'write')
  write()
  const text = captured()
    .map(({ args }) => String(args[0]))
    .join('')
  captured.restore()
  return text
}

t.test('no verb lets a name control the terminal; each record has one line, and JSON the same name', (t) => {
  const [line, json] = [false, true].map((json) =>
    written(t, 'stdout', () => print({ json }, { name: HOSTILE }, `added ${HOSTILE}`)),
  )
  t.equal(line, 'added ?]0;title??[2J?2J?ok\nproblem\n')
  t.notMatch(json?.trimEnd(), /[\p{Cc}\p{Cf}]/u)
  t.same(JSON.parse(json ?? ''), { name: HOSTILE })
  t.equal(
    written(t, 'stderr', () => tell({}, null, HOSTILE)),
    '?]0;title??[2J?2J?ok\nproblem\n',
  )
  t.equal(
    written(t, 'stderr', () => stderrLog.warn('gone', { cause: new Error(HOSTILE), none: undefined })),
    `warning: gone cause=${SEEN} none=undefined\n`,
  )
  t.end()
})
