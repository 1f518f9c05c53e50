import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { VERSION } from '../../src/server/supervisor/version.ts'
import { plainEnvironment } from '../support/load/load.ts'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Command {
  readonly words: readonly string[]
  readonly to?: string
}
interface Step {
  readonly name: string
  readonly commands: readonly Command[]
}
interface Release {
  readonly version: string
  readonly commit: string
  readonly out: string
  readonly from?: string
}
type Git = (...args: readonly string[]) => string | null
const { stepsOf, afterwards, changesSince, problemsOf, shellText } = (await import(
  pathToFileURL(`${ROOT}tools/release-steps.mjs`).href
)) as {
  stepsOf(release: Release): readonly Step[]
  afterwards(release: Release): readonly Command[]
  changesSince(commit: string, git: Git): string | null
  problemsOf(input: Partial<Release> & { git: Git; changelog: string; chart?: string }): readonly string[]
  shellText(command: Command): string
}
const { changesOf } = (await import(pathToFileURL(`${ROOT}tools/changelog.mjs`).href)) as {
  changesOf(version: string, text: string): string | null
}

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const CHANGELOG = `# Changelog\n\n## Unreleased\n\n- new\n\n## ${VERSION} (2027-01-01)\n\n- one\n- two\n\n## 0.0.9\n`
/** A clean clone without tags. */
const clean: Git = (...args) =>
  args[0] === 'status' ? '' : args.includes(`${COMMIT}^{commit}`) ? COMMIT : null
const problems = (more: Partial<Parameters<typeof problemsOf>[0]> = {}): readonly string[] =>
  problemsOf({ version: VERSION, out: '/absent', git: clean, changelog: CHANGELOG, ...more })
const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['tools/release.mjs', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: plainEnvironment(),
  })
function folderOf(t: Test): string {
  return temporaryFolder(t, 'release')
}

t.test('a clean commit with a changelog section can be released', async (t) => {
  t.same(problems(), [])
  t.same(problems({ from: COMMIT }), [])
})

for (const [what, more, stated] of [
  [
    'files that differ from the commit',
    { git: (...args) => (args[0] === 'status' ? ' M a' : null) },
    /commit them/,
  ],
  ['a folder that is not a clone', { git: () => null }, /no clone of git/],
  [
    'a version that has a tag',
    { git: (...args) => (args.includes(`refs/tags/v${VERSION}`) ? COMMIT : clean(...args)) },
    /another version/,
  ],
  ['a commit before it that is not there', { from: 'absent' }, /no commit absent/],
  ['a version that the changelog does not have', { version: '9.9.9' }, /says nothing of 9\.9\.9/],
  [
    'changes that are not released',
    { changelog: '## Unreleased\n\n- new\n' },
    /name its part "Unreleased" so/,
  ],
  ['a chart of another version', { chart: 'version: 0.0.1\nappVersion: "0.0.1"\n' }, /Chart\.yaml/],
  ['a folder of the clone that is not ignored', { out: 'build' }, /git does not ignore build/],
  ['a folder with files in it', { out: ROOT }, /is not empty/],
] as const satisfies readonly (readonly [string, Partial<Parameters<typeof problemsOf>[0]>, RegExp])[]) {
  t.test(`refuses to release ${what}`, async (t) => {
    t.match(problems(more).join('\n'), stated)
  })
}

t.test('detects files that change during a release before the provenance is written', async (t) => {
  const tree =
    (head: string, status: string | null): Git =>
    (...args) =>
      args[0] === 'status' ? status : head
  t.equal(changesSince(COMMIT, tree(COMMIT, '')), null)
  t.match(changesSince(COMMIT, tree('0'.repeat(40), '')), /another commit/)
  t.match(changesSince(COMMIT, tree(COMMIT, '?? new.ts')), /files were changed/)
  t.match(changesSince(COMMIT, tree(COMMIT, null)), /files were changed/)
})

t.test('the chart of this tree has the version of the program', async (t) => {
  const chart = readFileSync(`${ROOT}deploy/chart/Chart.yaml`, 'utf8')
  t.same(problems({ chart }), [])
})

t.test('returns the changelog section of a version without its heading, and no other section', async (t) => {
  t.equal(changesOf(VERSION, CHANGELOG), '- one\n- two\n')
  t.equal(changesOf('0.0.9', CHANGELOG), null, 'an empty part says nothing')
  t.equal(changesOf('0.0', CHANGELOG), null)
  t.equal(changesOf('(2027-01-01)', CHANGELOG), null)
})

t.test('each step runs files that are there', async (t) => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: object }
  for (const { words } of stepsOf({ version: VERSION, commit: COMMIT, out: 'x' }).flatMap(
    (step) => step.commands,
  )) {
    const [program, first = '', second = ''] = words
    t.match(program, /^(node|npm|docker|helm)$/)
    if (program === 'node') t.ok(existsSync(ROOT + first), first)
    if (program === 'npm' && first === 'run') t.ok(second in scripts, second)
    for (const word of words.filter((word) => word.startsWith('deploy/'))) t.ok(existsSync(ROOT + word), word)
  }
})

t.test('the step that states the provenance of the files is the last', async (t) => {
  const steps = stepsOf({ version: VERSION, commit: COMMIT, out: 'x' }).map(({ name }) => name)
  t.same(steps, ['tests', 'notes', 'package', 'sbom', 'image', 'chart', 'provenance'])
})

t.test('no step is irreversible', async (t) => {
  const words = stepsOf({ version: VERSION, commit: COMMIT, out: 'x' }).flatMap(({ commands }) =>
    commands.flatMap((command) => command.words),
  )
  t.same(
    words.filter((word) => /^(push|publish|tag|--sign)$/.test(word)),
    [],
  )
  t.match(afterwards({ version: VERSION, commit: COMMIT, out: 'x' }).map(shellText), [
    /SHA256SUMS/,
    /provenance/,
    `git tag --sign --message 'Sluice ${VERSION}' v${VERSION} ${COMMIT}`,
    `git push origin v${VERSION}`,
  ])
})

t.test('a command is shown as a shell takes it', async (t) => {
  const words = ['printf', '%s\n', "it's", 'a b', '$HOME', '`x`', '', '--a=b/c:d@e']
  const { stdout } = spawnSync('sh', ['-c', shellText({ words })], { encoding: 'utf8' })
  t.equal(stdout, "it's\na b\n$HOME\n`x`\n\n--a=b/c:d@e\n")
  const folder = folderOf(t)
  const to = join(folder, 'a b')
  spawnSync('sh', ['-c', shellText({ words: ['echo', 'x'], to })])
  t.equal(readFileSync(to, 'utf8'), 'x\n')
})

t.test('--dry-run names every command, with docker or without, and writes nothing', async (t) => {
  const folder = folderOf(t)
  const { status, stdout, stderr } = release(
    '--dry-run',
    '--out',
    folder,
    '--source',
    'https://git.example/sluice',
  )
  t.equal(status, 0, stderr)
  t.match(stdout, `npm pack --pack-destination ${folder}`)
  t.match(
    stdout,
    /docker build --pull --file deploy\/Dockerfile --tag sluice:[\d.]+ .*image\.revision=[0-9a-f]{40}/,
  )
  t.match(stdout, `docker save --output ${folder}/sluice-${VERSION}.image.tar sluice:${VERSION}`)
  t.match(stdout, 'helm lint --strict deploy/chart')
  t.match(stdout, `node tools/sbom.mjs ${folder}/sluice-${VERSION}.cdx.json`)
  t.match(stdout, /tools\/provenance\.mjs .*--source https:\/\/git\.example\/sluice/)
  t.match(stdout, 'git tag --sign')
  t.same(readdirSync(folder), [])
})

t.test('a release that is blocked by a problem runs no step', async (t) => {
  const folder = folderOf(t)
  writeFileSync(join(folder, 'old'), '')
  const { status, stdout, stderr } = release('--out', folder, '--without=tests')
  t.equal(status, 1)
  t.match(stderr, `release: ${folder} is not empty`)
  t.equal(stdout, '')
  t.same(readdirSync(folder), ['old'])
})

t.test('only steps that can run on other machines can be left out', async (t) => {
  const { status, stderr } = release('--dry-run', '--without=provenance')
  t.equal(status, 2)
  t.match(stderr, 'not provenance')
  t.match(release('--dry-run', '--without=image').stdout, /^image: .*\(left out\)$/m)
  t.match(release('--help').stdout, 'publishes, signs and tags nothing')
})
