/** A process with too few open files reports that before its modules fail to load. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { plainEnvironment } from '../../../support/load/load.ts'
import { ROOT } from '../../../support/source.ts'

function helpWith(files: number): { readonly status: number | null; readonly stderr: string } {
  const command = `ulimit -n ${files}; exec '${process.execPath}' '${join(ROOT, 'bin/sluice')}' --help`
  return spawnSync('sh', ['-c', command], { encoding: 'utf8', env: plainEnvironment() })
}

t.test('a limit of 64 open files is reported in one sentence, with the fix', async (t) => {
  const { status, stderr } = helpWith(64)
  t.equal(status, 1)
  t.match(stderr, /^this process may open 64 files, .*ulimit -Hn.*\n$/)
})

t.test('a limit of 256 open files is enough for a verb', async (t) => {
  t.equal(helpWith(256).status, 0)
})
