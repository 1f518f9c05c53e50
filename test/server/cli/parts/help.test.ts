/** The help of the command line: every verb under a heading, each with examples that it takes. */
import { CommanderError, type Command } from 'commander'
import t from 'tap'
import { examplesOf, headingOf } from '../../../../src/server/cli/parts/help.ts'
import { eachVerb, treeOf } from '../../../../src/server/cli/operator/completion/tree.ts'
import { programOf } from '../../../../src/server/cli/run.ts'
import { openDataDirectory } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { keptLog } from '../../../support/log.ts'
import { nodeSettings, runToEnd, sluice } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { noPty, openPty, plainText } from '../../../support/nodes/pty.ts'

t.setTimeout(300_000)

const whole = (): Promise<Command> => programOf('--help', { code: 0 }, false)

/** Words of a line as a shell takes them, without redirections. */
function wordsOf(line: string): readonly string[] {
  const words = line.match(/"[^"]*"|\S+/g) ?? []
  const end = words.findIndex((word) => word === '<' || word === '>')
  return (end < 0 ? words : words.slice(0, end)).map((word) => word.replaceAll('"', ''))
}

/** Lets verbs do nothing, so that a line is parsed and no more. */
function muted(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  if (command.commands.length === 0) command.action(() => undefined)
  for (const below of command.commands) muted(below)
  return command
}

t.test('every verb of the help has a heading and examples', async (t) => {
  const program = treeOf(await whole())
  t.same(
    program.verbs.filter(({ name }) => headingOf(name) === null).map(({ name }) => name),
    [],
  )
  const withoutExample = eachVerb(program).filter(
    ({ path, name }) => path !== '' && name !== 'help' && examplesOf(path).length === 0,
  )
  t.same(
    withoutExample.map(({ path }) => path),
    [],
  )
})

t.test('every example is a valid command line of its verb', async (t) => {
  const paths = eachVerb(treeOf(await whole())).map(({ path }) => path)
  const lines = new Set(paths.flatMap(examplesOf))
  t.ok(lines.size > 70)
  for (const line of lines) {
    // A program of its own: options of an earlier line would stay.
    const program = muted(await whole())
    const problem = await program.parseAsync([...wordsOf(line)], { from: 'user' }).then(
      () => null,
      (cause: unknown) => (cause instanceof CommanderError ? cause.message : cause),
    )
    t.equal(problem, null, line)
  }
})

t.test('the help of a verb shows its examples with the program name that the user typed', async (t) => {
  const { code, stdout } = await runVerb({}, ['keys', 'revoke', '--help'])
  t.equal(code, 0)
  t.match(stdout, /\nExamples:\n {2}bin\/sluice keys revoke \S/)
  const group = await runVerb({}, ['keys', '--help'])
  t.match(group.stdout, /\nExamples:\n {2}bin\/sluice keys create .*\n {2}bin\/sluice keys list/)
})

t.test('help followed by a verb of a group shows the help of that verb', async (t) => {
  for (const line of ['keys create', 'keys', 'doctor', 'webhooks secret rotate', 'keys delete']) {
    const shown = await runVerb({}, ['help', ...line.split(' ')])
    const { stdout } = await runVerb({}, [...line.split(' '), '--help'])
    t.match(shown, { code: 0, stdout }, line)
    t.match(stdout, /^Usage: sluice /)
  }
  t.equal((await runVerb({}, ['help'])).stdout, (await runVerb({}, ['--help'])).stdout)
})

t.test('hints and the help of env use the program name that the user typed', async (t) => {
  const { stderr } = await runVerb({}, ['keys', 'lst'])
  t.match(stderr, '(bin/sluice VERB --help lists the options of a verb; bin/sluice --help lists the verbs)')
  const { stdout } = await runVerb({}, ['env', '--help'])
  t.match(stdout, 'eval "$(bin/sluice env --with-key)"')
})

t.test('the help lists the verbs in groups, in a fixed order', async (t) => {
  const { stdout } = await runVerb({}, ['--help'])
  t.match(
    stdout,
    /^Nodes:\n {2}init [^]*^ {2}serve [^]*^ {2}migrate [^]*^Organizations, workspaces and keys:\n {2}organizations /m,
  )
  for (const heading of ['Nodes:', 'Organizations, workspaces and keys:', 'Money:', 'Webhooks:'])
    t.match(stdout, new RegExp(`^${heading}$`, 'm'))
  t.notMatch(stdout, /^Commands:$/m)
})

t.test('uses colours only on a terminal or with FORCE_COLOR; NO_COLOR wins', async (t) => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, boolean])[] = [
    [{}, false],
    [{ FORCE_COLOR: '1' }, true],
    [{ FORCE_COLOR: '0' }, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    // An empty value counts as unset, as https://no-color.org has it.
    [{ FORCE_COLOR: '1', NO_COLOR: '' }, true],
  ]
  for (const [env, isColoured] of cases) {
    // Of one group: the whole help takes three times as long, and has its colours below.
    const { stdout } = await runVerb({ NO_COLOR: '', ...env }, ['keys', '--help'])
    t.equal(stdout.includes('\u001b['), isColoured, JSON.stringify(env))
    const { stderr } = await runVerb({ NO_COLOR: '', ...env }, ['keys', 'lst'])
    t.equal(stderr.includes('\u001b['), isColoured, `${JSON.stringify(env)}, an error`)
  }
})

t.test('doctor colours the level of each finding, and nothing in JSON', async (t) => {
  const settings = { ...(await nodeSettings(t, { isEmbedded: true })), FORCE_COLOR: '1', NO_COLOR: '' }
  const { stdout } = await runVerb(settings, ['doctor'])
  t.match(stdout, /^\u001b\[32mok\u001b\[0m {7}platform /)
  t.notMatch((await runVerb(settings, ['doctor', '--json'])).stdout, '\u001b')
})

t.test('the help has colours on a terminal, and none with NO_COLOR', { skip: noPty }, async (t) => {
  const coloured = openPty(t, { command: sluice('--help') })
  t.match(await coloured.ended, { code: 0 })
  t.match(coloured.output(), /\u001b\[1mNodes:\u001b\[0m/)
  const plain = openPty(t, { command: sluice('--help'), env: { NO_COLOR: '1' } })
  t.match(await plain.ended, { code: 0 })
  t.notMatch(plain.output(), '\u001b[')
})

t.test(
  'bare `sluice` on a terminal shows the help when a node is running, and otherwise serves',
  { skip: noPty },
  async (t) => {
    const settings = await nodeSettings(t, { isEmbedded: true })
    const data = await openDataDirectory(settings['SLUICE_DATA'] ?? '', keptLog())
    const pty = openPty(t, { command: sluice(), env: settings })
    t.match(await pty.ended, { code: 0 })
    t.match(plainText(pty.output()), /^A node is already running \(pid \d+\)\.[^]*Usage: sluice/)
    data.release()
    // A setting that is wrong: the node that it would start refuses.
    const alone = openPty(t, { command: sluice(), env: { ...settings, SLUICE_PORT: 'none' } })
    t.match(await alone.ended, { code: 2 })
    t.match(alone.output(), /^SLUICE_PORT: expected/)
  },
)

t.test('bare `sluice` without a terminal starts a node even when one is running', async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const data = await openDataDirectory(settings['SLUICE_DATA'] ?? '', keptLog())
  t.teardown(() => data.release())
  const { code, stdout, stderr } = await runToEnd(settings, sluice())
  t.notMatch(stdout, /Usage/)
  t.not(code, 0)
  t.match(`${stdout}${stderr}`, /is running on .* already/)
})

t.test('a verb without its group gets an error with the groups that have it', async (t) => {
  const { code, stderr } = await runVerb({}, ['revoke'])
  t.equal(code, 2)
  t.match(stderr, /^Similar commands: .*`bin\/sluice keys revoke`/m)
  t.match(stderr, /^Similar commands: .*`bin\/sluice scim tokens revoke`/m)
  const many = await runVerb({}, ['list'])
  t.match(many.stderr, /^Similar commands: .* and more\.$/m)
  t.notMatch((await runVerb({}, ['front-end'])).stderr, /Similar commands/, 'nothing that is hidden')
})
