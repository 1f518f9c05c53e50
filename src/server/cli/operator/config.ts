import type { Command } from 'commander'
import { addVerb, loadGeneration, print } from '../parts/verb.ts'

/** `config print`. */
export function addTo(program: Command): void {
  const config = program.command('config').description('show the configuration')
  const verb = addVerb(config, 'print', 'print the effective settings with secrets masked')
  verb.action((options: { json?: boolean }) => {
    const { report, unknown } = loadGeneration()
    const width = Math.max(...report.map(({ name }) => name.length))
    const lines = report.map(
      ({ name, value, source }) => `${name.padEnd(width)}  ${value === '' ? '-' : value}  (${source})`,
    )
    const slips = unknown.map((name) => `${name.padEnd(width)}  is not a setting of this version`)
    print(options, { settings: report, unknown }, [...lines, ...slips].join('\n'))
  })
}
