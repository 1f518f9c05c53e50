import type { Command } from 'commander'
import { readConfig, type Generation, type Problem } from '../config.ts'

/** What went wrong with a verb, for a person: no stack. Exit code 1. */
export class CliFailure extends Error {}

/** The configuration is bad, or was given badly: every problem at once. Exit code 2. */
export class ConfigInvalid extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map(({ name, expected, got }) => `${name}: expected ${expected}, got ${got}`).join('\n'))
    this.problems = problems
  }
}

/** Adds a verb that takes `--json`. */
export function addVerb(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON')
}

/** Prints the result of a verb: one JSON document with `--json`, else lines for a person. */
export function print(options: { readonly json?: boolean }, value: unknown, text: string): void {
  process.stdout.write(`${options.json === true ? JSON.stringify(value) : text}\n`)
}

/** Throws `ConfigInvalid`. */
export function loadGeneration(): Generation {
  const reading = readConfig()
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation
}
