import { Command, CommanderError } from 'commander'
import { ConfigInvalid } from '../config.ts'
import { SchemaRefused } from '../store/migrate.ts'
import { EmbeddedPostgresError } from '../supervisor/postgres-error.ts'
import { StartRefused } from '../supervisor/start-refused.ts'
import { VERSION } from '../supervisor/version.ts'
import { addConfigVerbs } from './config.ts'
import { addDoctor } from './doctor.ts'
import { addKeyVerbs } from './keys.ts'
import { addModelVerbs } from './models.ts'
import { addNodeVerbs } from './node.ts'
import { addOpenApiVerb } from './openapi.ts'
import { addOrganizationVerbs } from './organizations.ts'
import { addRoles } from './roles.ts'
import { CliFailure } from './verb.ts'
import { addWorkspaceVerbs } from './workspaces.ts'

/**
 * The command line.
 * @param args without the two that name Node and the program
 * @returns 0, 1 (failed), 2 (bad usage or configuration), or null when a forked role goes on in this process
 */
export async function run(args: readonly string[]): Promise<number | null> {
  const outcome: { code: number | null } = { code: 0 }
  try {
    await programOf(outcome).parseAsync([...args], { from: 'user' })
    return outcome.code
  } catch (problem) {
    return explain(problem, args.includes('--json'))
  }
}

/** One file per group of verbs adds its own. */
function programOf(outcome: { code: number | null }): Command {
  const program = new Command('sluice').description('A self-hosted AI gateway')
  program.exitOverride().version(VERSION).showHelpAfterError('(sluice --help lists the verbs)')
  addNodeVerbs(program, outcome)
  addConfigVerbs(program)
  addDoctor(program, outcome)
  addOrganizationVerbs(program)
  addWorkspaceVerbs(program)
  addKeyVerbs(program)
  addModelVerbs(program, outcome)
  addOpenApiVerb(program)
  addRoles(program, outcome)
  return program
}

/** What an operator is told without a stack. */
const EXPECTED = [CliFailure, StartRefused, EmbeddedPostgresError, SchemaRefused]

function explain(problem: unknown, asJson: boolean): number {
  // Commander has told it already.
  if (problem instanceof CommanderError) return problem.exitCode === 0 ? 0 : 2
  if (problem instanceof ConfigInvalid) {
    tell(asJson, { error: 'config_invalid', problems: problem.problems }, problem.message)
    return 2
  }
  const isExpected = EXPECTED.some((kind) => problem instanceof kind)
  const message = problem instanceof Error ? problem.message : String(problem)
  const isQuiet = isExpected || !(problem instanceof Error)
  tell(asJson, { error: 'failed', message }, isQuiet ? message : problem.stack ?? message)
  return 1
}

function tell(asJson: boolean, value: unknown, text: string): void {
  process.stderr.write(`${asJson ? JSON.stringify(value) : text}\n`)
}
