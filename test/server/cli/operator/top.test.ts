import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { LiveView } from '../../../../src/schemas/operator/live-view.ts'
import { firstKeys, runToEnd, sluice, until, type Settings } from '../../../support/nodes/node.ts'
import { sharedNode } from '../../../support/nodes/shared-node.ts'
import { noPty, openPty, plainText, type Pty } from '../../../support/nodes/pty.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

const node = await sharedNode()
const { settings } = node
const keys = firstKeys(node.dataDir)
const ENTER = '\u001b[?1049h'
const LEAVE = '\u001b[?1049l'
/** Lines of the last whole frame. */
const frameIn = (output: string): readonly string[] =>
  plainText(
    output
      .split('\u001b[?2026h')
      .slice(1)
      .findLast((frame) => frame.includes('\u001b[?2026l')) ?? '',
  ).split(/\r*\n/)

/** A node whose fronts cannot check a key in time is not watched meanwhile; a refusal would be its answer. */
async function watched(
  env: Settings,
  ...args: readonly string[]
): Promise<Awaited<ReturnType<typeof runVerb>>> {
  let ended = await runVerb(env, ['top', ...args])
  await until('the node can be watched', async () => {
    if (!ended.stderr.includes('the live view of the node failed')) return true
    ended = await runVerb(env, ['top', ...args])
    return false
  })
  return ended
}

t.test('without a terminal it prints one frame, with the key from the first keys', async (t) => {
  let { code, stdout, stderr } = await runToEnd(settings, sluice('top'))
  // A store that was slow for a moment counts as away for as long; a front that was is not shown.
  await until('no store and no front is slow', async () => {
    if (!/^Sluice \d\S* {2}degraded/.test(stdout) && /\n0 +\d+ /.test(stdout)) return true
    ;({ code, stdout, stderr } = await runToEnd(settings, sluice('top')))
    return false
  })
  t.equal(code, 0, stderr)
  t.match(
    stdout,
    /^Sluice \d\S* {2}ready[^]*\nrequests [^]*\nPostgres up external[^]*\nFRONT +PID[^]*\n0 +\d+ /,
  )
  t.notMatch(stdout, '\u001b')
})

t.test('with --json it prints the live view as JSON', async (t) => {
  const { stdout } = await watched(settings, '--json')
  t.ok(Compile(LiveView).Check(JSON.parse(stdout)), stdout)
})

t.test('a key without permission is refused, and never shown', async (t) => {
  const file = join(t.testdir({ key: `${keys['inference_key']}\n` }), 'key')
  const { code, stdout, stderr } = await watched(settings, '--once', '--key-file', file)
  t.match([code, stdout, stderr], [1, '', /^the node refused this key: /])
  t.notMatch(stderr, keys['inference_key'])
})

t.test(
  'the key comes from the named file, then from the environment, then from the first keys',
  async (t) => {
    const folder = t.testdir({ bad: 'no key\n' })
    copyFileSync(join(node.dataDir, 'first-keys.json'), join(folder, 'first'))
    const wrong = { ...settings, SLUICE_MANAGEMENT_KEY: 'sk-wrong' }
    t.equal((await watched(wrong, '--once', '--key-file', join(folder, 'first'))).code, 0)
    t.match(await watched(wrong, '--once'), { code: 1, stderr: /refused this key/ })
    t.match(await runVerb(settings, ['top', '--once', '--key-file', join(folder, 'bad')]), {
      code: 1,
      stderr: /bad contains no management key/,
    })
    t.match(await runVerb(settings, ['top', '--once', '--key-file', join(folder, 'none')]), {
      code: 1,
      stderr: /none cannot be read \(ENOENT\)/,
    })
  },
)

t.test('fails when no node is running', async (t) => {
  const dataDir = t.testdir({})
  t.match(await runVerb({ ...settings, SLUICE_DATA: dataDir }, ['top', '--once']), {
    code: 1,
    stderr: /no running node uses/,
  })
})

t.test(
  'on a terminal it fits the size, adapts to a resize, and q restores the screen',
  { skip: noPty },
  async (t) => {
    const pty = openPty(t, { command: sluice('top'), env: settings, rows: 30, columns: 100 })
    const shown = await pty.until(/TRANSFERS/)
    t.ok(frameIn(pty.output()).every((line) => line.length < 100))
    pty.resize(6, 30)
    // A line that is cut: it is one of the small screen.
    await pty.until(/requests [^\r]*…\r[^]*q quits/, shown)
    await until('the whole of it is drawn', () => frameIn(pty.output()).length <= 6)
    const small = frameIn(pty.output())
    t.ok(small.length <= 6 && small.every((line) => line.length < 30), small.join('\n'))
    pty.keys('q')
    t.same(await pty.ended, { code: 0, is_restored: true })
    t.ok(
      pty.output().startsWith(ENTER) && pty.output().endsWith(LEAVE),
      JSON.stringify(pty.output().slice(-80)),
    )
  },
)

t.test('Ctrl-C also ends it, and NO_COLOR turns colours off', { skip: noPty }, async (t) => {
  const pty = openPty(t, { command: sluice('top'), env: { ...settings, NO_COLOR: '1' } })
  await pty.until(/FRONT/)
  pty.keys('\u0003')
  t.same(await pty.ended, { code: 0, is_restored: true })
  t.notMatch(pty.output(), /\u001b\[[0-9;]*m/)
  t.ok(pty.output().endsWith(LEAVE))
})

t.test(
  'does not draw a screen with --once, or on a terminal without drawing support',
  { skip: noPty },
  async (t) => {
    await Promise.all(
      [openTop(t, ['--once'], {}), openTop(t, [], { TERM: 'dumb' })].map(async (pty) => {
        t.same(await pty.ended, { code: 0, is_restored: true })
        t.notMatch(pty.output(), ENTER)
        const lines = plainText(pty.output()).split(/\r*\n/)
        t.ok(lines.length > 5 && lines.every((line) => line.length <= 60))
      }),
    )
  },
)

t.test('prints to a terminal that does not know its size', { skip: noPty }, async (t) => {
  const pty = openTop(t, ['--once'], {}, 0)
  t.same(await pty.ended, { code: 0, is_restored: true })
  t.match(plainText(pty.output()), /memory \d+ MiB/)
})

function openTop(
  t: Parameters<typeof openPty>[0],
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  columns = 60,
): Pty {
  return openPty(t, { command: sluice('top', ...args), env: { ...settings, ...env }, columns })
}
