import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeSettings, sluice, startNode } from '../../support/nodes/node.ts'
import { ROOT } from '../../support/source.ts'

// A whole node starts here, on a machine that may be busy.
t.setTimeout(600_000)

const isRoot = process.getuid?.() === 0
/** User id of the account `nobody` on Debian and Alpine. */
const NOBODY = 65_534

/** Steps down for good, with no way back: as an operator's unit does it. */
const stepDown = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']

const look = [...stepDown.slice(1), 'test', '-r', join(ROOT, 'bin/sluice')]
const mayNobodyRead = isRoot && spawnSync('setpriv', look).status === 0
const whyNot = !isRoot ? 'the other tests do it' : !mayNobodyRead && 'nobody else may read this clone'

t.test('a node with its own stores runs without privileges in a 0700 home', { skip: whyNot }, async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const home = join(settings['SLUICE_DATA'] ?? '', '../home')
  mkdirSync(home, { mode: 0o700 })
  chownSync(home, NOBODY, NOBODY)
  chmodSync(home, 0o700)
  const command = [...stepDown, ...sluice('serve')]
  const node = await startNode(t, { ...settings, HOME: home, SLUICE_DATA: join(home, 'data') }, command)
  t.equal((await node.get('/api/v1/models/count')).status, 200)
  await node.killHard()
  t.pass('and a hard kill leaves nothing')
})
