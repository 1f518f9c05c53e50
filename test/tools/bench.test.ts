import { existsSync, mkdirSync, readdirSync, symlinkSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ROOT } from '../support/source.ts'
import { runToEnd } from '../support/nodes/node.ts'

/** A tree in which nothing was built. */
function unbuilt(t: Pick<Test, 'testdir'>): string {
  const folder = t.testdir()
  mkdirSync(join(folder, 'tools'))
  for (const name of readdirSync(join(ROOT, 'tools')).filter((one) => one.endsWith('.mjs')))
    cpSync(join(ROOT, 'tools', name), join(folder, 'tools', name))
  for (const name of ['bench', 'src', 'test', 'node_modules', 'package.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, name), join(folder, name))
  return folder
}

t.test('help and usage errors are answered without a build', async (t) => {
  const folder = unbuilt(t)
  const bench = (...args: readonly string[]) =>
    runToEnd({}, [process.execPath, join(folder, 'tools/bench.mjs'), ...args])
  t.match(await bench('--help'), { code: 0, stdout: /^ {2}embeddings/m, stderr: '' })
  t.match(await bench('embedings'), {
    code: 2,
    stdout: '',
    stderr: "there is no scenario 'embedings'. Nearest: `embeddings`.\n",
  })
  t.match(await bench('embeddings', '--repeats', '0'), {
    code: 2,
    stdout: '',
    stderr: /^embeddings: --repeats/,
  })
  t.notOk(existsSync(join(folder, 'dist')))
})
