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
  /** Null: a forked role goes on in this process. */
  code: number | null
}

/** The verb that needs all others. */
const COMPLETION = 'completion'

/** One file per group of verbs. A start waits only for the group that it names. */
const GROUPS: readonly {
  readonly verbs: readonly string[]
  readonly load: () => Promise<(program: Command, outcome: CliOutcome) => void>
}[] = [
  {
    verbs: ['front', 'spare', 'runner'],
    load: () => import('./operator/roles.ts').then((group) => group.addRoles),
  },
  {
    verbs: ['serve', 'migrate', 'reload'],
    load: () => import('./operator/node.ts').then((group) => group.addNodeVerbs),
  },
  { verbs: ['scale'], load: () => import('./operator/scale.ts').then((group) => group.addScaleVerb) },
  { verbs: ['config'], load: () => import('./operator/config.ts').then((group) => group.addConfigVerbs) },
  { verbs: ['doctor'], load: () => import('./operator/doctor.ts').then((group) => group.addDoctor) },
  {
    verbs: ['organizations'],
    load: () => import('./workspaces/organizations.ts').then((group) => group.addOrganizationVerbs),
  },
  {
    verbs: ['workspaces'],
    load: () => import('./workspaces/workspaces.ts').then((group) => group.addWorkspaceVerbs),
  },
  { verbs: ['members'], load: () => import('./workspaces/members.ts').then((group) => group.addMemberVerbs) },
  { verbs: ['scim'], load: () => import('./scim/scim.ts').then((group) => group.addScimVerbs) },
  { verbs: ['vault'], load: () => import('./vault/vault.ts').then((group) => group.addVaultVerbs) },
  { verbs: ['keys'], load: () => import('./keys/keys.ts').then((group) => group.addKeyVerbs) },
  { verbs: ['files', 'sweep'], load: () => import('./files/files.ts').then((group) => group.addFileVerbs) },
  { verbs: ['audit'], load: () => import('./audit/audit.ts').then((group) => group.addAuditVerbs) },
  { verbs: ['logs'], load: () => import('./requests/logs.ts').then((group) => group.addLogsVerb) },
  {
    verbs: ['backup', 'restore'],
    load: () => import('./operator/backup.ts').then((group) => group.addBackupVerbs),
  },
  {
    verbs: ['clusters'],
    load: () => import('./operator/clusters.ts').then((group) => group.addClusterVerbs),
  },
  { verbs: ['prune'], load: () => import('./operator/prune.ts').then((group) => group.addPruneVerb) },
  { verbs: ['ledger'], load: () => import('./money/ledger.ts').then((group) => group.addLedgerVerbs) },
  { verbs: ['budgets'], load: () => import('./money/budgets.ts').then((group) => group.addBudgetVerbs) },
  { verbs: ['credits'], load: () => import('./money/credits.ts').then((group) => group.addCreditVerbs) },
  {
    verbs: ['accept-restore'],
    load: () => import('./money/accept-restore.ts').then((group) => group.addAcceptRestoreVerb),
  },
  { verbs: ['usage'], load: () => import('./money/usage.ts').then((group) => group.addUsageVerb) },
  {
    verbs: ['webhooks'],
    load: () => import('./webhooks/webhooks.ts').then((group) => group.addWebhookVerbs),
  },
  {
    verbs: ['test-webhook'],
    load: () => import('./webhooks/test-webhook.ts').then((group) => group.addTestWebhook),
  },
  { verbs: ['listen'], load: () => import('./webhooks/listen.ts').then((group) => group.addListen) },
  {
    verbs: ['models', 'catalog'],
    load: () => import('./models/models.ts').then((group) => group.addModelVerbs),
  },
  {
    verbs: ['endpoints'],
    load: () => import('./endpoints/endpoints.ts').then((group) => group.addEndpointVerbs),
  },
  { verbs: ['openapi'], load: () => import('./operator/openapi.ts').then((group) => group.addOpenApiVerb) },
  { verbs: ['init'], load: () => import('./operator/init.ts').then((group) => group.addInit) },
  { verbs: ['top'], load: () => import('./operator/top.ts').then((group) => group.addTop) },
  { verbs: ['open'], load: () => import('./operator/open.ts').then((group) => group.addOpen) },
  { verbs: ['env'], load: () => import('./operator/env.ts').then((group) => group.addEnv) },
  {
    verbs: [COMPLETION],
    load: () => import('./operator/completion.ts').then((group) => group.addCompletion),
  },
]

/**
 * Runs the command line.
 * @param args without the two that name Node and the program; for none see `bareVerb`
 * @returns 0, 1 (failed), 2 (bad usage or configuration), or null when a forked role goes on in this process
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

/** Verbs whose process has a log of its own. */
const NODE_VERBS: ReadonlySet<string> = new Set(['serve', 'front', 'spare', 'runner'])

/** The log of a node has the version of Node that the AWS SDK wants; no verb needs it in its output. */
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

/**
 * The program with the verbs of the group that contains `verb`; with all verbs where no group contains it.
 */
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
  const named = GROUPS.filter(({ verbs }) => verbs.includes(verb) && verb !== COMPLETION)
  // Help, and the message for an unknown verb, need all groups.
  for (const { load } of named.length > 0 ? named : GROUPS) (await load())(program, outcome)
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
