import { Command, CommanderError } from 'commander'
import { ConfigInvalid } from '../config.ts'
import { StartRefused } from '../supervisor/start-refused.ts'
import { VERSION } from '../supervisor/version.ts'
import { CliFailure } from './verb.ts'

/** Verbs that are known by now set it: null when a forked role goes on. */
interface CliOutcome {
  code: number | null
}

/** One file per group of verbs. A start waits only for the group that it names. */
const GROUPS: readonly {
  readonly verbs: readonly string[]
  readonly add: (program: Command, outcome: CliOutcome) => Promise<void>
}[] = [
  { verbs: ['front', 'spare', 'runner'], add: async (...to) => (await import('./roles.ts')).addRoles(...to) },
  { verbs: ['serve', 'migrate', 'reload'], add: async (...to) => (await import('./node.ts')).addNodeVerbs(...to) },
  { verbs: ['config'], add: async (program) => (await import('./config.ts')).addConfigVerbs(program) },
  { verbs: ['doctor'], add: async (...to) => (await import('./doctor.ts')).addDoctor(...to) },
  { verbs: ['organizations'], add: async (program) => (await import('./organizations.ts')).addOrganizationVerbs(program) },
  { verbs: ['workspaces'], add: async (program) => (await import('./workspaces.ts')).addWorkspaceVerbs(program) },
  { verbs: ['keys'], add: async (program) => (await import('./keys.ts')).addKeyVerbs(program) },
  { verbs: ['models', 'catalog'], add: async (...to) => (await import('./models.ts')).addModelVerbs(...to) },
  { verbs: ['openapi'], add: async (program) => (await import('./openapi.ts')).addOpenApiVerb(program) },
]

/**
 * The command line.
 * @param args without the two that name Node and the program
 * @returns 0, 1 (failed), 2 (bad usage or configuration), or null when a forked role goes on in this process
 */
export async function run(args: readonly string[]): Promise<number | null> {
  const outcome: CliOutcome = { code: 0 }
  try {
    const program = await programOf(args[0] ?? '', outcome)
    await program.parseAsync([...args], { from: 'user' })
    return outcome.code
  } catch (problem) {
    return explain(problem, args.includes('--json'))
  }
}

async function programOf(verb: string, outcome: CliOutcome): Promise<Command> {
  const program = new Command('sluice').description('A self-hosted AI gateway')
  program.exitOverride().version(VERSION).showHelpAfterError('(sluice --help lists the verbs)')
  const named = GROUPS.filter(({ verbs }) => verbs.includes(verb))
  // Help, and the message for a verb that does not exist, need them all.
  for (const { add } of named.length > 0 ? named : GROUPS) await add(program, outcome)
  return program
}

function explain(problem: unknown, asJson: boolean): number {
  // Commander has told it already.
  if (problem instanceof CommanderError) return problem.exitCode === 0 ? 0 : 2
  if (problem instanceof ConfigInvalid) {
    tell(asJson, { error: 'config_invalid', problems: problem.problems }, problem.message)
    return 2
  }
  const isExpected = problem instanceof CliFailure || problem instanceof StartRefused
  const message = problem instanceof Error ? problem.message : String(problem)
  const isQuiet = isExpected || !(problem instanceof Error)
  tell(asJson, { error: 'failed', message }, isQuiet ? message : problem.stack ?? message)
  return 1
}

function tell(asJson: boolean, value: unknown, text: string): void {
  process.stderr.write(`${asJson ? JSON.stringify(value) : text}\n`)
}
