import { spawnSync } from 'node:child_process'
import t from 'tap'
import { plainEnvironment } from '../support/load/load.ts'
import { ROOT } from '../support/source.ts'

t.test('release-notes --help answers at once, without a build', async (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/release-notes.mjs', '--help'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  t.equal(status, 0)
  t.match(stdout, /^npm run release-notes \[-- FROM\] \[--keep FILE\]\n/)
  t.equal(stderr, '')
})
