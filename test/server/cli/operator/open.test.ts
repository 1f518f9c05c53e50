/** `sluice open`, with a program of the test in place of the system's browser opener. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { openDataDirectory } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { keptLog } from '../../../support/log.ts'
import { nodeSettings, sluice, until, type Settings } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { noPty, openPty, plainText } from '../../../support/nodes/pty.ts'

t.setTimeout(120_000)

const ADDRESS = 'http://127.0.0.1:9123/dashboard/'

/**
 * A data directory whose node has published its addresses, and an opener that writes its argument to a file.
 */
async function stand(t: Test): Promise<{ readonly settings: Settings; readonly opened: string }> {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const data = await openDataDirectory(settings['SLUICE_DATA'] ?? '', keptLog())
  t.teardown(() => data.release())
  data.publish({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    redis: { socketPath: '/nowhere' },
    url: 'http://127.0.0.1:8123',
    adminUrl: 'http://127.0.0.1:9123',
  })
  const folder = await openFolder(t)
  const opened = join(folder, 'opened')
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(
      join(folder, name),
      `#!/bin/sh\nprintf '%s\\n' "$@" > '${opened}.part'\nmv '${opened}.part' '${opened}'\n`,
    )
    chmodSync(join(folder, name), 0o755)
  }
  const path = [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  return { settings: { ...settings, PATH: path }, opened }
}

t.test('without a terminal it only prints the address, for people and for programs', async (t) => {
  const { settings, opened } = await stand(t)
  t.match(await runVerb(settings, ['open']), { code: 0, stdout: `${ADDRESS}\n`, stderr: '' })
  t.match(await runVerb(settings, ['open', '--json']), { stdout: `{"url":"${ADDRESS}"}\n` })
  t.notOk(existsSync(opened))
})

t.test('reports that no node is running', async (t) => {
  const { code, stdout, stderr } = await runVerb(await nodeSettings(t, { isEmbedded: true }), ['open'])
  t.match([code, stdout, stderr], [1, '', /^no running node uses /])
})

t.test(
  'on a terminal it opens the address as one argument, and with --print it only prints it',
  { skip: noPty },
  async (t) => {
    const { settings, opened } = await stand(t)
    const printed = openPty(t, { command: sluice('open', '--print'), env: settings })
    t.match(await printed.ended, { code: 0 })
    t.notOk(existsSync(opened))
    const pty = openPty(t, { command: sluice('open'), env: settings })
    t.match(await pty.ended, { code: 0 })
    t.match(plainText(pty.output()), ADDRESS)
    await until('it is open', () => existsSync(opened))
    t.equal(readFileSync(opened, 'utf8'), `${ADDRESS}\n`)
  },
)

t.test('on a terminal without a browser it reports that none was found', { skip: noPty }, async (t) => {
  const { settings } = await stand(t)
  const pty = openPty(t, { command: sluice('open'), env: { ...settings, PATH: '/nowhere' } })
  t.match(await pty.ended, { code: 0 })
  t.match(plainText(pty.output()), /no browser found/)
})
