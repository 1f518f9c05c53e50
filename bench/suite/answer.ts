/** What the words of a command decide by themselves: help and faults need no build and no run. */
import { parseArgs } from 'node:util'
import { SCENARIOS, type Scenario } from '../scenarios.ts'
import { chosenOf, helpText, optionsOf, readCommand, type Command } from './command.ts'
import { routed } from './routed.ts'

/** Exit code of wrong options. */
export const WRONG = 2

export interface Answer {
  readonly text: string
  /** 0: the text was asked for; else it is a fault in one line. */
  readonly code: 0 | typeof WRONG
}

/** @returns the command to run, or the answer that stands in the place of a run */
export function commandOrAnswer(
  given: readonly string[],
  scenarios: readonly Scenario[] = SCENARIOS,
): Command | Answer {
  const args = routed(given, scenarios)
  const command = readCommand(args, scenarios)
  if (command === 'help') return helpOf(args, scenarios)
  return typeof command === 'string' ? { text: command, code: WRONG } : command
}

/** The help of the scenarios that the words name, or of all. */
function helpOf(args: readonly string[], scenarios: readonly Scenario[]): Answer {
  const { positionals } = parseArgs({
    args: [...args],
    options: { ...optionsOf(scenarios), help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
    strict: false,
  })
  try {
    const named = positionals.length === 0 ? [] : chosenOf(positionals, scenarios)
    return { text: helpText(scenarios, named), code: 0 }
  } catch (problem) {
    return { text: problem instanceof Error ? problem.message : String(problem), code: WRONG }
  }
}
