// `npm run front-end`: checks that the front end's binary for this Node, and all others beside it, are those
// that docs/front-end-library.md describes. Ends with 1 when one differs.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @param {string} folder folder of the installed package
 * @returns {string[]} differences from the record, one line each
 */
export function differences(folder = join(root, 'node_modules/uWebSockets.js')) {
  const { version, binaries } = JSON.parse(readFileSync(join(root, 'tools/front-end.json'), 'utf8'))
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return [`${folder} is not installed`]
  const found = JSON.parse(readFileSync(file, 'utf8')).version
  const here = readdirSync(folder).filter((name) => name.endsWith('.node'))
  const loaded = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
  return [
    ...(found === version ? [] : [`its version is ${found}, and ${version} was looked at`]),
    ...(here.includes(loaded) ? [] : [`there is no ${loaded} for this platform and Node`]),
    // An image keeps only its own binary.
    ...here
      .filter((name) => binaries[name] !== sha256(join(folder, name)))
      .map((name) => `${name} is not the one that was looked at`),
  ]
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = differences(process.argv[2])
  process.stdout.write(
    found.length === 0
      ? 'the binaries of the front end are those that were looked at\n'
      : `${found.join('\n')}\n`,
  )
  process.exitCode = found.length === 0 ? 0 : 1
}
