import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { plainEnvironment } from '../support/load/load.ts'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const provenance = (...args: readonly string[]) =>
  spawnSync(process.execPath, [`${ROOT}tools/provenance.mjs`, ...args], {
    encoding: 'utf8',
    env: plainEnvironment(),
  })

/** A folder with three files, one in a folder of its own, with their sums and their statement. */
function released(t: Test): string {
  const folder = temporaryFolder(t, 'release')
  writeFileSync(join(folder, 'sluice-0.1.0.tgz'), 'package')
  writeFileSync(join(folder, 'a b.json'), '{}')
  mkdirSync(join(folder, 'chart'))
  writeFileSync(join(folder, 'chart/sluice-0.1.0.tgz'), 'chart')
  const made = provenance(
    folder,
    '--release=0.1.0',
    `--commit=${COMMIT}`,
    '--source=https://git.example/sluice',
    '--began=2027-01-01T00:00:00.000Z',
  )
  t.equal(made.status, 0, made.stderr)
  return folder
}

for (const [what, damage, stated] of [
  [
    'a file that was changed',
    (folder) => writeFileSync(join(folder, 'a b.json'), '{} '),
    'a b.json is not what',
  ],
  [
    'a file that is missing',
    (folder) => rmSync(join(folder, 'a b.json')),
    'a b.json of SHA256SUMS is not there',
  ],
  [
    'a file of the same name in another folder',
    (folder) => writeFileSync(join(folder, 'chart/sluice-0.1.0.tgz'), 'package'),
    'chart/sluice-0.1.0.tgz is not what',
  ],
  [
    'a file that was added',
    (folder) => writeFileSync(join(folder, 'more'), ''),
    'SHA256SUMS does not tell of more',
  ],
  [
    'a file with another name',
    (folder) => renameSync(join(folder, 'a b.json'), join(folder, 'c.json')),
    'provenance.intoto.json does not tell of c.json',
  ],
  [
    'a statement about another file',
    (folder) => {
      const file = join(folder, 'provenance.intoto.json')
      writeFileSync(file, readFileSync(file, 'utf8').replace(sha256('package'), sha256('other')))
    },
    'sluice-0.1.0.tgz is not what provenance.intoto.json tells',
  ],
] as const satisfies readonly (readonly [string, (folder: string) => void, string])[]) {
  t.test(`the check of a release finds ${what}`, async (t) => {
    const folder = released(t)
    t.equal(provenance(folder, '--check').status, 0)
    damage(folder)
    const { status, stdout } = provenance(folder, '--check')
    t.equal(status, 1)
    t.match(stdout, stated)
  })
}

t.test('without a folder, a version or a commit nothing is stated', async (t) => {
  const folder = temporaryFolder(t, 'release')
  for (const args of [[], [folder], [folder, '--release=0.1.0'], [folder, `--commit=${COMMIT}`]]) {
    const { status, stderr } = provenance(...args)
    t.equal(status, 2)
    t.match(stderr, 'node tools/provenance.mjs FOLDER')
  }
})

t.test(
  'the statement has the form of in-toto and SLSA, and names commit, lock file and each file',
  async (t) => {
    const folder = released(t)
    const statement = JSON.parse(readFileSync(join(folder, 'provenance.intoto.json'), 'utf8')) as unknown
    t.match(statement, {
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      subject: [
        { name: 'a b.json', digest: { sha256: sha256('{}') } },
        { name: 'chart/sluice-0.1.0.tgz', digest: { sha256: sha256('chart') } },
        { name: 'sluice-0.1.0.tgz', digest: { sha256: sha256('package') } },
      ],
      predicate: {
        buildDefinition: {
          buildType: /^urn:/,
          externalParameters: { version: '0.1.0' },
          resolvedDependencies: [
            { uri: `git+https://git.example/sluice@${COMMIT}`, digest: { gitCommit: COMMIT } },
            {
              name: 'package-lock.json',
              digest: { sha256: sha256(readFileSync(`${ROOT}package-lock.json`, 'utf8')) },
            },
          ],
        },
        runDetails: {
          builder: { id: /^urn:/ },
          metadata: { startedOn: '2027-01-01T00:00:00.000Z', finishedOn: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ },
        },
      },
    })
  },
)

t.test('sha256sum accepts the checksum file', async (t) => {
  const folder = released(t)
  const { status, stdout } = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: folder,
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  t.equal(status, 0)
  t.equal(stdout.match(/: OK$/gm)?.length, 3)
})
