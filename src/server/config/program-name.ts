import { readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path'

/** The way in which this process was started. */
export interface Call {
  /** The script that Node runs, absolute. */
  readonly script: string | undefined
  /** The npm event: `npx`, `start`, or the name of another script; undefined without npm. */
  readonly npmEvent: string | undefined
  /** PATH: the folders in which a shell looks for programs. */
  readonly path: string
  readonly folder: string
}

/** The command that the user types before a verb: `sluice`, `bin/sluice`, `npx ./sluice-0.1.0.tgz`. */
export function programName({ script, npmEvent, path, folder }: Call): string {
  if (script === undefined) return NAME
  // If npx fetched no package, it ran the program of the current folder. In another folder it would fetch
  // whatever package the registry has under the name of Sluice.
  const fetched = npmEvent === 'npx' ? packageOf(script) : null
  if (fetched !== null) return `npx ${quoted(fetched)}`
  // `npm start` runs the program through a script that installs and builds first.
  const program = basename(script) === 'start.mjs' ? join(dirname(script), '..', 'bin', NAME) : script
  const isOnPath =
    npmEvent === undefined &&
    path.split(delimiter).some((one) => one !== '' && resolve(folder, one) === dirname(program))
  if (isOnPath) return basename(program)
  const near = relative(folder, program)
  return quoted(near.startsWith('..') || !near.includes('/') ? program : near)
}

const NAME = 'sluice'

/** Replaces the program's plain name between back-ticks in a text by the command of this machine, which can be pasted. */
export function asCalled(text: string, name: string): string {
  return text.replace(/`sluice (?=[a-z])/g, () => `\`${name} `)
}

/** Quotes a text as one word of a shell. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The package that npx was given to fetch, as written; null when npx ran a package that a project had installed. */
function packageOf(script: string): string | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dirname(script), '..', '..', 'package.json'), 'utf8'))
    const found = /"_npx":\{"packages":\["([^"\\]+)"\]\}/.exec(JSON.stringify(value))
    return found?.[1] ?? null
  } catch {
    return null
  }
}
