import { readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path'

/** How this process was started. */
export interface Call {
  /** The script that Node runs, absolute. */
  readonly script: string | undefined
  /** Of npm: `npx`, `start`, or the name of another script; undefined without npm. */
  readonly npmEvent: string | undefined
  /** Folders that a shell looks in. */
  readonly path: string
  readonly folder: string
}

/**
 * What whoever started this process types before a verb: `sluice`, `bin/sluice`, `npx ./sluice-0.1.0.tgz`.
 */
export function programName({ script, npmEvent, path, folder }: Call): string {
  if (script === undefined) return NAME
  // Without a package npx has run what the folder has: elsewhere it would fetch whatever the registry has by
  // our name.
  const fetched = npmEvent === 'npx' ? packageOf(script) : null
  if (fetched !== null) return `npx ${quoted(fetched)}`
  // `npm start` runs it through a script that installs and builds first.
  const program = basename(script) === 'start.mjs' ? join(dirname(script), '..', 'bin', NAME) : script
  const isOnPath =
    npmEvent === undefined &&
    path.split(delimiter).some((one) => one !== '' && resolve(folder, one) === dirname(program))
  if (isOnPath) return basename(program)
  const near = relative(folder, program)
  return quoted(near.startsWith('..') || !near.includes('/') ? program : near)
}

const NAME = 'sluice'

/**
 * Our texts name the program by its own name, between back-ticks; this is what they are where they can be
 * pasted.
 */
export function asCalled(text: string, name: string): string {
  return text.replace(/`sluice (?=[a-z])/g, () => `\`${name} `)
}

/** As a word of a shell. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The package that npx was told to fetch, as it was told; null where it ran what a project had installed. */
function packageOf(script: string): string | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dirname(script), '..', '..', 'package.json'), 'utf8'))
    const found = /"_npx":\{"packages":\["([^"\\]+)"\]\}/.exec(JSON.stringify(value))
    return found?.[1] ?? null
  } catch {
    return null
  }
}
