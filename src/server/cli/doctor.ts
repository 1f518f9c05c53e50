import type { Command } from 'commander'
import { examine, type Finding } from './doctor-checks.ts'
import { addVerb, loadGeneration, print } from './verb.ts'

/** `doctor`: exit code 1 when something keeps the node from working. */
export function addDoctor(program: Command, outcome: { code: number | null }): void {
  const verb = addVerb(program, 'doctor', 'look for what keeps a node from working, and say how to mend it')
  verb.action(async (options: { json?: boolean }) => {
    const findings = await examine(loadGeneration())
    const isWell = findings.every(({ level }) => level !== 'problem')
    print(options, { ok: isWell, findings }, findings.map(lineOf).join('\n'))
    if (!isWell) outcome.code = 1
  })
}

function lineOf({ check, level, detail, fix }: Finding): string {
  const line = `${level.padEnd(8)} ${check.padEnd(19)} ${detail}`
  return fix === undefined ? line : `${line}\n${' '.repeat(29)}fix: ${fix}`
}
