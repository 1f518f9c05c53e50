// `node tools/provenance.mjs FOLDER …` writes what the files of a release are made of: SHA256SUMS, and an
// in-toto statement with the predicate of SLSA provenance 1. With --check it compares both with the files.
// The statement is not signed.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const STATEMENT = 'provenance.intoto.json'
export const SUMS = 'SHA256SUMS'

const HELP = `node tools/provenance.mjs FOLDER --release VERSION --commit COMMIT [--source URL] [--builder URI] [--began TIME]
node tools/provenance.mjs FOLDER --check

  --source   where the commit comes from
  --builder  who builds, as a URI; absent: this program on a machine of yours
  --began    when the release began, RFC 3339; absent: now
`
const BUILD_TYPE = 'urn:sluice:release:v1'
const BUILDER = 'urn:sluice:release:local'

/**
 * @param files names and SHA-256 of the files of a release
 * @param made version, commit, source, builder, and when it began and ended
 * @param lockSha256 of the lock file, which holds each package to a hash
 */
export function statementOf(files, made, lockSha256) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version: made.version },
        resolvedDependencies: [
          {
            ...(made.source === undefined
              ? { name: 'source' }
              : { uri: `git+${made.source}@${made.commit}` }),
            digest: { gitCommit: made.commit },
          },
          { name: 'package-lock.json', digest: { sha256: lockSha256 } },
        ],
      },
      runDetails: {
        builder: { id: made.builder ?? BUILDER, version: { node: process.versions.node } },
        metadata: { startedOn: made.began, finishedOn: made.ended },
      },
    },
  }
}

/** Every file of the folder and of folders in it, by its path, but the two that tell of them. */
export function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => name !== STATEMENT && name !== SUMS)
    .sort()
    .map((name) => ({ name, sha256: sha256Of(join(folder, name)) }))
}

/** How the files differ from the two that tell of them, one line each. */
export function differences(folder) {
  const found = new Map(filesOf(folder).map(({ name, sha256 }) => [name, sha256]))
  const sums = readFileSync(join(folder, SUMS), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(66), line.slice(0, 64)])
  const { subject } = JSON.parse(readFileSync(join(folder, STATEMENT), 'utf8'))
  const stated = subject.map(({ name, digest }) => [name, digest.sha256])
  return [...comparedWith(found, new Map(sums), SUMS), ...comparedWith(found, new Map(stated), STATEMENT)]
}

function comparedWith(found, told, file) {
  const names = [...new Set([...found.keys(), ...told.keys()])].sort()
  return names
    .filter((name) => found.get(name) !== told.get(name))
    .map((name) => {
      if (!told.has(name)) return `${file} does not tell of ${name}`
      return found.has(name) ? `${name} is not what ${file} tells` : `${name} of ${file} is not there`
    })
}

function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function main() {
  const text = { type: 'string' }
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      release: text,
      commit: text,
      source: text,
      builder: text,
      began: text,
      check: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const [folder] = positionals
  const { release: version, commit } = values
  const isComplete = folder !== undefined && (values.check || (version !== undefined && commit !== undefined))
  if (values.help || !isComplete) {
    ;(values.help ? process.stdout : process.stderr).write(HELP)
    process.exit(values.help ? 0 : 2)
  }
  if (values.check) {
    const lines = differences(folder)
    process.stdout.write(lines.map((line) => `${line}\n`).join(''))
    process.exit(lines.length === 0 ? 0 : 1)
  }
  const files = filesOf(folder)
  const ended = new Date().toISOString()
  const made = { ...values, version, began: values.began ?? ended, ended }
  const lock = sha256Of(fileURLToPath(new URL('../package-lock.json', import.meta.url)))
  writeFileSync(join(folder, SUMS), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''))
  writeFileSync(join(folder, STATEMENT), `${JSON.stringify(statementOf(files, made, lock), null, 2)}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
