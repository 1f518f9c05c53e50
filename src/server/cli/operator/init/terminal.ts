import type { WriteStream } from 'node:tty'
import { cancel, intro, password, select, text } from '@clack/prompts'
import { CliFailure } from '../../parts/verb.ts'
import type { Asker, Choice } from './ask.ts'

/** Stream of the questions: standard output contains only the verb's result. */
const output = process.stderr

export function openTerminal(title: string): Asker {
  for (const stream of [process.stdout, output]) giveSize(stream)
  intro(title, { output })
  return {
    text: ({ message, initial, check }) =>
      answered(text({ message, initialValue: initial, output, validate: (given) => check(given ?? '') })),
    hidden: ({ message, check }) =>
      answered(password({ message, output, validate: (given) => check(given ?? '') })),
    choose: <T extends string>(message: string, choices: readonly Choice<T>[], initial: T) =>
      chosen(message, choices, initial),
  }
}

/** Sets a size, since some terminals report 0 columns, which would leave no room for a line. */
function giveSize(stream: WriteStream): void {
  if (stream.isTTY && !(stream.columns > 0)) [stream.columns, stream.rows] = [COLUMNS, ROWS]
}

const COLUMNS = 80
const ROWS = 24

/** The library requires options of each value's own type: this function passes texts and maps them back to the choice. */
async function chosen<T extends string>(
  message: string,
  choices: readonly Choice<T>[],
  initial: T,
): Promise<T> {
  const options = choices.map(({ value, label, hint }) => ({
    value,
    label,
    ...(hint === undefined ? {} : { hint }),
  }))
  const value = await answered(select<string>({ message, options, initialValue: initial, output }))
  return choices.find((choice) => choice.value === value)?.value ?? initial
}

async function answered(answer: Promise<string | symbol>): Promise<string> {
  const given = await answer
  // A symbol means that the user cancelled.
  if (typeof given === 'string') return given
  cancel('Nothing was written.', { output })
  throw new CliFailure('cancelled')
}
