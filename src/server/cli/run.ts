import { Command, CommanderError } from 'commander'
import { commandName, ConfigInvalid, readConfig } from '../config.ts'
import { StartRefused } from '../supervisor/start-refused.ts'
import { VERSION } from '../supervisor/version.ts'
import { takeLibraryLines } from '../observe/library-lines.ts'
import { addHelpTexts, configureHelp, showHelp } from './parts/help.ts'
import { stderrLog } from './parts/stderr-log.ts'
import { CliFailure, pasteable, tell } from './parts/verb.ts'

/** How a verb ended; most verbs leave the default. */
interface CliOutcome {
  /** Null: a forked role continues in this process. */
  code: number | null
}

/** A file of verbs. */
interface Group {
  readonly addTo: (program: Command, outcome: CliOutcome) => void
}

/** Files of verbs, by the verbs that each adds. A start waits only for the file with its own verb. */
const GROUPS: Readonly<Record<string, () => Promise<Group>>> = {
  'front spare runner': () => import('./operator/roles.ts'),
  'serve migrate reload': () => import('./operator/node.ts'),
  scale: () => import('./operator/scale.ts'),
  config: () => import('./operator/config.ts'),
  doctor: () => import('./operator/doctor.ts'),
  organizations: () => import('./workspaces/organizations.ts'),
  workspaces: () => import('./workspaces/workspaces.ts'),
  members: () => import('./workspaces/members.ts'),
  scim: () => import('./scim/scim.ts'),
  vault: () => import('./vault/vault.ts'),
  keys: () => import('./keys/keys.ts'),
  'files sweep': () => import('./files/files.ts'),
  audit: () => import('./audit/audit.ts'),
  logs: () => import('./requests/logs.ts'),
  'backup restore': () => import('./operator/backup.ts'),
  clusters: () => import('./operator/clusters.ts'),
  prune: () => import('./operator/prune.ts'),
  ledger: () => import('./money/ledger.ts'),
  budgets: () => import('./money/budgets.ts'),
  credits: () => import('./money/credits.ts'),
  'accept-restore': () => import('./money/accept-restore.ts'),
  usage: () => import('./money/usage.ts'),
  webhooks: () => import('./webhooks/webhooks.ts'),
  'test-webhook': () => import('./webhooks/test-webhook.ts'),
  listen: () => import('./webhooks/listen.ts'),
  'models catalog': () => import('./models/models.ts'),
  endpoints: () => import('./endpoints/endpoints.ts'),
  openapi: () => import('./operator/openapi.ts'),
  init: () => import('./operator/init.ts'),
  top: () => import('./operator/top.ts'),
  open: () => import('./operator/open.ts'),
  env: () => import('./operator/env.ts'),
  completion: () => import('./operator/completion.ts'),
}

/**
 * Runs the command line.
 * @param args the command line without Node and the program; `bareVerb` handles an empty one
 * @returns 0, 1 (failed), 2 (bad usage or configuration), or null when a forked role continues in this process
 */
export async function run(args: readonly string[]): Promise<number | null> {
  const outcome: CliOutcome = { code: 0 }
  const [verb = await bareVerb(), ...options] = args
  const isHelp = verb === 'help'
  if (!NODE_VERBS.has(verb)) takeLibraryLines(warnOf)
  try {
    const program = await programOf(isHelp ? (options[0] ?? verb) : verb, outcome, args.includes('--json'))
    if (isHelp) showHelp(program, options)
    await program.parseAsync([verb, ...options], { from: 'user' })
    return outcome.code
  } catch (problem) {
    return explain(problem, args.includes('--json'))
  }
}

/** Verbs whose process has its own log. */
const NODE_VERBS: ReadonlySet<string> = new Set(['serve', 'front', 'spare', 'runner'])

/** Leaves out the warning of the AWS SDK about the version of Node: the log of a node has it, and no verb needs it. */
function warnOf(text: string): void {
  if (!text.includes('NodeVersionSupportWarning')) stderrLog.warn('library_line', { text })
}

/**
 * The verb of a command line without one: `serve`, so that `npx` on the package starts a node. A person at a
 * terminal whose node runs already gets the help: a second node could not start.
 */
async function bareVerb(): Promise<string> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return 'serve'
  const reading = readConfig()
  if (!reading.ok) return 'serve'
  const { runningSupervisor } = await import('../supervisor/data-directory/data-directory.ts')
  const node = runningSupervisor(reading.generation.config.dataDir)
  if (node?.isVerb !== false) return 'serve'
  process.stderr.write(`A node is already running (pid ${node.pid}).\n\n`)
  return '--help'
}

/** The program with the verbs of the group that contains `verb`; with all verbs when no group contains it. */
export async function programOf(verb: string, outcome: CliOutcome, asJson: boolean): Promise<Command> {
  const name = commandName()
  const program = new Command('sluice').description('A self-hosted AI gateway')
  program
    .exitOverride()
    .version(VERSION)
    .showHelpAfterError(`(${name} VERB --help lists the options of a verb; ${name} --help lists the verbs)`)
  configureHelp(program)
  // With --json a program reads only the one line that `explain` writes.
  if (asJson) program.configureOutput({ writeErr: () => {} })
  const all = Object.entries(GROUPS)
  const named = all.filter(([verbs]) => verbs.split(' ').includes(verb) && verb !== 'completion')
  // Help, completion and the message for an unknown verb need all groups.
  for (const [, load] of named.length > 0 ? named : all) (await load()).addTo(program, outcome)
  addHelpTexts(program)
  return program
}

function explain(problem: unknown, json: boolean): number {
  // Commander has printed the message already.
  if (problem instanceof CommanderError) {
    if (problem.exitCode === 0) return 0
    if (json) tell({ json }, { error: 'usage', message: problem.message.replace(/^error: /, '') }, '')
    return 2
  }
  if (problem instanceof ConfigInvalid) {
    tell({ json }, { error: 'config_invalid', problems: problem.problems }, problem.message)
    return 2
  }
  const isExpected = problem instanceof CliFailure || problem instanceof StartRefused
  const message = pasteable(problem instanceof Error ? problem.message : String(problem))
  const isQuiet = isExpected || !(problem instanceof Error)
  tell({ json }, { error: 'failed', message }, isQuiet ? message : (problem.stack ?? message))
  return 1
}
