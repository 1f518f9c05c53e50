import type { Command } from 'commander'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'
import { escapeControls } from '../parts/terminal-text.ts'
import { addVerb, loadGeneration, pasteable, print } from '../parts/verb.ts'

/**
 * `doctor`: exit code 1 after any finding. Decision: a warning counts as much as a problem, since a script
 * that runs doctor would otherwise not notice a root key without a backup.
 */
export function addDoctor(program: Command, outcome: { code: number | null }): void {
  const verb = addVerb(
    program,
    'doctor',
    'look for what is wrong with this machine or installation, and say how to mend it; changes nothing',
  )
  verb.action(async (options: { json?: boolean }) => {
    const found = await examine(loadGeneration())
    const findings = found.map((one) => ({
      ...one,
      detail: pasteable(one.detail),
      ...(one.fix !== undefined && { fix: pasteable(one.fix) }),
    }))
    const { isWell, text } = reportOf(findings)
    print(options, { ok: isWell, findings }, text)
    if (!isWell) outcome.code = 1
  })
}

/** A line for each finding, and another line with its remedy; a summary at the end. */
export function reportOf(findings: readonly Finding[]): { readonly isWell: boolean; readonly text: string } {
  const isWell = findings.every(({ level }) => level === 'ok')
  return { isWell, text: [...findings.map(lineOf), summaryOf(findings)].join('\n') }
}

/**
 * One finding in text. Servers and processes choose their own texts, so that control characters are escaped.
 */
function lineOf({ check, level, detail, fix }: Finding): string {
  const line = `${level.padEnd(8)} ${check.padEnd(19)} ${escapeControls(detail)}`
  return fix === undefined ? line : `${line}\n${' '.repeat(29)}fix: ${escapeControls(fix)}`
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems + warnings === 0) return 'all is well'
  return `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
}
