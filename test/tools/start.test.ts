import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeSettings, runToEnd, startNode } from '../support/nodes/node.ts'
import { ROOT } from '../support/source.ts'

// A whole tree is compiled here, on a machine that may be busy.
t.setTimeout(600_000)

/** What a clone holds, and what was built of it: what is compiled here is what differs. */
const PARTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.dashboard.json',
  'catalog.json',
  'README.md',
  'CHANGELOG.md',
  'bin',
  'docs',
  'src',
  'bench',
  'test',
  'tools',
  'dist',
]

t.test(
  'npm start and the tools work in a folder whose name has a space and a non-ASCII letter',
  async (t) => {
    const folder = join(t.testdir(), 'my slüice')
    mkdirSync(folder)
    for (const part of PARTS)
      cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter: isOurs })
    linkPackages(folder)
    const changed = 'bench/suite/main'
    appendFileSync(join(folder, `${changed}.ts`), '// Of this folder alone.\n')
    const tool = (name: string): readonly string[] => [process.execPath, join(folder, 'tools', name)]
    t.match(await runToEnd({}, tool('prove.mjs')), { code: 0, stdout: /^ {2}start +npm start/m })
    const again = await runToEnd({}, [...tool('bench.mjs'), '--report', 'nowhere'])
    t.match(again, { code: 2, stderr: /^nowhere cannot be read/m })
    t.ok(existsSync(join(folder, 'dist/bundle/run.js')), 'a tool builds its own tree, wherever it is called')
    t.match(readFileSync(join(folder, `dist/${changed}.js`), 'utf8'), /Of this folder alone/)
    const settings = {
      ...(await nodeSettings(t, { hasTables: false })),
      SLUICE_DATA: join(folder, '.sluice'),
    }
    const node = await startNode(t, settings, tool('start.mjs'))
    t.equal((await node.get('/api/v1/models/count')).status, 200)
    // Its data lies in the folder that tap removes first of all.
    process.kill(node.pid, 'SIGTERM')
    t.equal(await node.ended, 0)
  },
)

t.test('no tool uses the path of a URL as a file path', async (t) => {
  const folder = join(ROOT, 'tools')
  const tools = readdirSync(folder).filter((name) => name.endsWith('.mjs'))
  t.same(
    tools.filter((name) => readFileSync(join(folder, name), 'utf8').includes('import.meta.url).pathname')),
    [],
  )
})

/**
 * As hard links where possible: the compiler knows compiled files by their real places, and resolves symbolic
 * links.
 */
function linkPackages(folder: string): void {
  const packages = join(ROOT, 'node_modules')
  if (!lstatSync(packages).isSymbolicLink() && spawnSync('cp', ['-al', packages, folder]).status === 0) return
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
  symlinkSync(realpathSync(packages), join(folder, 'node_modules'), 'dir')
}

/**
 * Packages of the tools are installed in their own folder, the bundle is to be made here, and maps are for
 * debuggers.
 */
function isOurs(path: string): boolean {
  return !/node_modules|^dist\/bundle$|\.map$/.test(path.slice(ROOT.length))
}
