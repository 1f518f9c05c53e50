import type { Command } from 'commander'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'
import { escapeControls, inTone, type Tone } from '../parts/terminal-text.ts'
import { addVerb, loadGeneration, pasteable, print } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly strict?: true
}

/**
 * `doctor`: exit code 1 after a problem, and with `--strict` after a warning. Decision: a node works despite a
 * warning, so that a warning does not fail a script that waits for a working node.
 */
export function addTo(program: Command, outcome: { code: number | null }): void {
  addVerb(program, 'doctor', 'check this machine and installation for problems and suggest fixes (read-only)')
    .option('--strict', 'also exit with code 1 on warnings')
    .action(async (options: Options) => {
      const found = await examine(loadGeneration())
      const findings = found.map((one) => ({
        ...one,
        detail: pasteable(one.detail),
        ...(one.fix !== undefined && { fix: pasteable(one.fix) }),
      }))
      const { isWell, text } = reportOf(findings)
      const isOk = isWell || (options.strict !== true && findings.every(({ level }) => level !== 'problem'))
      print(options, { ok: isOk, findings }, text, (line) => line.replace(LEVEL, levelInTone))
      if (!isOk) outcome.code = 1
    })
}

/** The level at the beginning of a finding's line: no other line begins with one and blanks. */
const LEVEL = /^(ok|warning|problem)(?= {2,})/
const TONES: Readonly<Record<string, Tone>> = { ok: 'good', warning: 'warn', problem: 'bad' }

function levelInTone(level: string): string {
  return inTone(level, TONES[level] ?? 'plain')
}

/** A line for each finding, and another line with its remedy; a summary at the end. */
export function reportOf(findings: readonly Finding[]): { readonly isWell: boolean; readonly text: string } {
  const isWell = findings.every(({ level }) => level === 'ok')
  return { isWell, text: [...findings.map(lineOf), summaryOf(findings)].join('\n') }
}

/** One finding in text. Control characters are escaped, since some texts come from servers and other processes. */
function lineOf({ check, level, detail, fix }: Finding): string {
  const line = `${level.padEnd(8)} ${check.padEnd(19)} ${escapeControls(detail)}`
  return fix === undefined ? line : `${line}\n${' '.repeat(29)}fix: ${escapeControls(fix)}`
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems + warnings === 0) return 'no problems found'
  return `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
}
