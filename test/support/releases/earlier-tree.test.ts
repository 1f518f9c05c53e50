/** A tree of an earlier commit: reports missing parts, with the way to get them. */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { plainEnvironment } from '../load/load.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { comingOf } from './earlier-packages.ts'
import { makeEarlierTree, PROMISED_FROM } from './earlier-tree.ts'

function run(cwd: string, command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

const LOCK = '{ "lockfileVersion": 3, "packages": {} }\n'

const TYPES = '{ "compilerOptions": { "strict": true }, "include": ["src"] }'

/** A repository of two commits, each of which writes its text where it is built. */
function repository(t: Teardown): { readonly home: string; readonly clone: string; readonly first: string } {
  const home = temporaryFolder(t, 'earlier')
  const clone = join(home, 'origin')
  for (const folder of ['tools', 'test', 'node_modules/a', 'node_modules/@b/c'])
    mkdirSync(join(clone, folder), { recursive: true })
  const commit = (text: string): void => {
    writeFileSync(join(clone, '.gitignore'), 'node_modules\n')
    writeFileSync(join(clone, 'package-lock.json'), LOCK)
    writeFileSync(join(clone, 'test/a.test.ts'), text)
    writeFileSync(join(clone, 'tsconfig.json'), TYPES)
    writeFileSync(
      join(clone, 'tools/build.mjs'),
      `import { writeFileSync } from 'node:fs'\nwriteFileSync('built', '${text}')\n`,
    )
    run(clone, 'git', 'add', '.')
    run(clone, 'git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', text)
  }
  run(clone, 'git', 'init', '-q')
  commit('first')
  const first = run(clone, 'git', 'rev-parse', 'HEAD')
  commit('second')
  return { home, clone, first }
}

t.test('reports a commit that is missing in a shallow clone, and how to fetch it', async (t) => {
  const { home, clone, first } = repository(t)
  const shallow = join(home, 'shallow')
  run(home, 'git', 'clone', '-q', '--depth', '1', `file://${clone}`, shallow)
  const folder = join(home, 'tree')
  t.same(await makeEarlierTree({ commit: first, clone: shallow, folder }), {
    ok: false,
    why: `this clone is shallow and has no commit ${first}: \`git fetch --unshallow\` brings it`,
  })
  t.notOk(existsSync(folder))
})

t.test('reports a commit that is missing in a full clone, and how to fetch it', async (t) => {
  const { home, clone } = repository(t)
  t.same(await makeEarlierTree({ commit: PROMISED_FROM, clone, folder: join(home, 'tree') }), {
    ok: false,
    why: `this clone has no commit ${PROMISED_FROM}: \`git fetch origin ${PROMISED_FROM}\` brings it`,
  })
})

t.test('reports a folder that is not a clone', async (t) => {
  const { home, first } = repository(t)
  const made = await makeEarlierTree({ commit: first, clone: home, folder: join(home, 'tree') })
  t.match(made, { ok: false, why: /^git cannot read .* as a clone of the repository: / })
})

t.test(
  'the tree has the sources of the commit without tests, links to the packages of the clone, and is built',
  async (t) => {
    const { home, clone, first } = repository(t)
    const folder = join(home, 'tree')
    t.same(await makeEarlierTree({ commit: first, clone, folder }), { ok: true })
    t.equal(readFileSync(join(folder, 'built'), 'utf8'), 'first')
    t.notOk(existsSync(join(folder, 'test')))
    for (const name of ['a', '@b/c'])
      t.ok(lstatSync(join(folder, 'node_modules', name)).isSymbolicLink(), name)
  },
)

t.test('the tree is compiled without type checks, and with its other settings unchanged', async (t) => {
  const { home, clone, first } = repository(t)
  const folder = join(home, 'tree')
  await makeEarlierTree({ commit: first, clone, folder })
  t.same(JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')), {
    compilerOptions: { strict: true, noCheck: true },
    include: ['src'],
  })
})

const A = { version: '1.0.0', integrity: 'sha512-a' }

t.test(
  'packages are linked when the clone has the same versions, except for a few that it no longer has',
  async (t) => {
    const there = { '': {}, 'node_modules/a': A, 'node_modules/@b/c': A, 'node_modules/new': A }
    const linked = (...absent: readonly string[]) => ({ kind: 'linked', absent })
    t.same(comingOf({ '': {}, 'node_modules/a': A, 'node_modules/@b/c': A }, there), linked())
    const removed = { 'node_modules/a': A, 'node_modules/gone': A, 'node_modules/@b/gone': A }
    t.same(comingOf(removed, there), linked('node_modules/gone', 'node_modules/@b/gone'))
    t.same(comingOf({ 'node_modules/linux': { ...A, optional: true } }, there), linked())
  },
)

t.test('installs packages of different versions, nested packages, and too many missing ones', async (t) => {
  const installed = { kind: 'installed' }
  const there = { 'node_modules/a': A }
  t.same(comingOf({ 'node_modules/a': { ...A, version: '0.9.0' } }, there), installed)
  t.same(comingOf({ 'node_modules/a': { ...A, integrity: 'sha512-b' } }, there), installed)
  t.same(comingOf({ 'node_modules/a/node_modules/b': A }, there), installed)
  const many = Array.from({ length: 9 }, (_, nth) => [`node_modules/gone-${nth}`, A] as const)
  t.same(comingOf(Object.fromEntries(many), there), installed)
})

t.test('a tree that cannot be built fails with the output of its build', async (t) => {
  const { home, clone, first } = repository(t)
  writeFileSync(join(clone, 'tools/build.mjs'), "process.stderr.write('no compiler')\nprocess.exit(1)\n")
  run(clone, 'git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qam', 'third')
  const commit = run(clone, 'git', 'rev-parse', 'HEAD')
  t.not(commit, first)
  await t.rejects(makeEarlierTree({ commit, clone, folder: join(home, 'tree') }), /no compiler/)
})
