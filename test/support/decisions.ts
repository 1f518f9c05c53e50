import type { SourceFile } from './source.ts'

export interface Decision {
  readonly name: string
  /** As written in the source. */
  readonly value: string
  readonly why: string
}

const DECIDED =
  /\/\*\*((?:(?!\*\/)[\s\S])*?\bDecision\b(?:(?!\*\/)[\s\S])*)\*\/\n((?:(?:export )?const [A-Z_0-9]+ = .*\n)+)/g

/** A number, or one made of numbers and of other constants. */
const NUMERIC = /^[\w.]+(?: [*/+-] [\w.]+)*$/

/**
 * Limits whose comment says that they are our decision: all numbers that follow it up to the next comment or empty
 * line.
 */
export function decisions(files: readonly SourceFile[]): readonly Decision[] {
  return files.flatMap(({ text }) =>
    [...text.matchAll(DECIDED)].flatMap(([, comment = '', constants = '']) =>
      [...constants.matchAll(/const ([A-Z_0-9]+) = (.*)\n/g)]
        .filter(([, , value = '']) => NUMERIC.test(value))
        .map(([, name = '', value = '']) => ({ name, value, why: sentence(comment) })),
    ),
  )
}

/** The README's section, one row per comment. */
export function decisionTable(files: readonly SourceFile[]): string {
  const rows = new Map<string, Decision[]>()
  for (const decision of decisions(files))
    rows.set(decision.why, [...(rows.get(decision.why) ?? []), decision])
  return [
    '| Constant | What it is |',
    '| --- | --- |',
    ...[...rows].map(
      ([why, all]) => `| ${all.map(({ name, value }) => `\`${name} = ${value}\``).join(', ')} | ${why} |`,
    ),
  ].join('\n')
}

function sentence(comment: string): string {
  const text = comment
    .replace(/\n\s*\*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return text
    .replace(/[;.,]? ?\bDecision\b[^.;]*\.?$/, '')
    .replace(/\|/g, '\\|')
    .replace(/\.?$/, '.')
}
