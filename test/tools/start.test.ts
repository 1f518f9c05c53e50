import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeSettings, runToEnd, startNode } from '../support/node.ts'
import { ROOT } from '../support/source.ts'

// A whole tree is compiled here, on a machine that may be busy.
t.setTimeout(300_000)

/** What a clone holds; the packages are those that are here. */
const PARTS = [
  'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.dashboard.json', 'catalog.json', 'README.md', 'CHANGELOG.md',
  'bin', 'src', 'bench', 'test', 'tools',
]

t.test('npm start and the tools work in a folder whose name holds a space and a letter beyond ASCII', async (t) => {
  const folder = join(t.testdir(), 'my slüice')
  mkdirSync(folder)
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter: isOurs })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const tool = (name: string): readonly string[] => [process.execPath, join(folder, 'tools', name)]
  t.match(await runToEnd({}, tool('prove.mjs')), { code: 0, stdout: /^ {2}start +npm start/m })
  t.match(await runToEnd({}, [...tool('bench.mjs'), '--help']), { code: 0, stdout: /^ {2}embeddings/m })
  t.ok(existsSync(join(folder, 'dist/bundle/run.js')), 'a tool builds its own tree, wherever it is called')
  const settings = { ...(await nodeSettings(t)), SLUICE_DATA: join(folder, '.sluice') }
  const node = await startNode(t, settings, tool('start.mjs'))
  t.equal((await node.get('/api/v1/models/count')).status, 200)
  // Its data lies in the folder that tap removes first of all.
  process.kill(node.pid, 'SIGTERM')
  t.equal(await node.ended, 0)
})

t.test('no tool takes the path of an URL for that of a file', async (t) => {
  const folder = join(ROOT, 'tools')
  const tools = readdirSync(folder).filter((name) => name.endsWith('.mjs'))
  t.same(tools.filter((name) => readFileSync(join(folder, name), 'utf8').includes('import.meta.url).pathname')), [])
})

/** Packages of the tools are installed in their own folder. */
function isOurs(path: string): boolean {
  return !path.slice(ROOT.length).includes('node_modules')
}
