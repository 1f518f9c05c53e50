/** The tree of an earlier commit, built in a folder of its own. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainEnvironment } from '../load/load.ts'
import { bringPackages } from './earlier-packages.ts'

/**
 * The commit that the promise of upgrades begins with: nodes of it and of this tree serve side by side, and
 * its API keeps its inputs and outputs. Decision.
 */
export const PROMISED_FROM = '2d8031b44b49bf9360cbd2e94a7d6024612649f2'

/** The definitions of that commit, kept: a clone without its history has them too. */
export const PROMISED_DEFINITIONS = 'test/contract/promise/definitions.json'

/** What a node does not need is left out: it would take most of the time of the build. */
const LEFT_OUT = [':(exclude)test', ':(exclude)bench']

export interface EarlierInput {
  readonly commit: string
  /** A clone that has the commit, with its packages installed. */
  readonly clone: string
  /** Is made, and must not be there. */
  readonly folder: string
}

/** `why` is for the user: what is missing, and how it comes. */
export type EarlierTree = { readonly ok: true } | { readonly ok: false; readonly why: string }

export async function makeEarlierTree(input: EarlierInput): Promise<EarlierTree> {
  const why = whyWithout(input)
  if (why !== null) return { ok: false, why }
  const { folder } = input
  unpack(input)
  compileUnchecked(folder)
  const missing = await bringPackages(input.clone, folder)
  if (missing !== null) return { ok: false, why: missing }
  run(process.execPath, ['tools/build.mjs'], folder)
  return { ok: true }
}

/** Null: the commit is there. */
function whyWithout({ commit, clone }: EarlierInput): string | null {
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-C', clone, ...args], { encoding: 'utf8', env: plainEnvironment() })
  const found = git('cat-file', '-e', `${commit}^{commit}`)
  if (found.error !== undefined) return `git does not run: ${found.error.message}`
  if (found.status === 0) return null
  const { status, stdout, stderr } = git('rev-parse', '--is-shallow-repository')
  if (status !== 0) return `git cannot read ${clone} as a clone of the repository: ${stderr.trim()}`
  return stdout.trim() === 'true'
    ? `this clone is shallow and has no commit ${commit}: \`git fetch --unshallow\` brings it`
    : `this clone has no commit ${commit}: \`git fetch origin ${commit}\` brings it`
}

function unpack({ commit, clone, folder }: EarlierInput): void {
  mkdirSync(folder, { recursive: true })
  const archive = join(folder, 'tree.tar')
  run('git', ['-C', clone, 'archive', '--format=tar', '-o', archive, commit, '--', '.', ...LEFT_OUT], folder)
  run('tar', ['-xf', archive], folder)
  rmSync(archive)
}

/** The types of a commit were checked when it was made; to check them is most of what its build takes. */
function compileUnchecked(folder: string): void {
  const file = join(folder, 'tsconfig.json')
  if (!existsSync(file)) return
  const { compilerOptions, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly compilerOptions?: object
  }
  writeFileSync(file, JSON.stringify({ compilerOptions: { ...compilerOptions, noCheck: true }, ...rest }))
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: plainEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
}
