/**
 * Runs the program whose module the command line names: for `tools/prove.mjs`, which builds, and with `--suite`
 * for a test, which it ends with and sends its findings to.
 */
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { machine } from '../../bench/machine.ts'
import { Proof, runOf, type Program, type ProofFolders } from './proof.ts'

const { path, short, translated, seed: asked, folders } = commandLine()
const name = basename(path)
const { program } = (await import(`./${path}.js`)) as { program: Program }
const seed = asked ?? program.seed ?? Math.floor(Math.random() * 2 ** 31)
const run = runOf(program, translated ? 'translated' : 'usual')
if (run === null) endWith(`${name} has no form for translated pairs`)

const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
process.once('disconnect', () => process.exit(1))
const facts = machine()
say(`${name}: seed ${seed}, ${facts.cores} × ${facts.cpu}, Node ${facts.node}, load ${facts.loadBefore}`)
const proof = new Proof({ seed, isShort: short, say, folders })
await proof.run(run)

if (proof.skipped !== null) process.stdout.write(`skipped: ${proof.skipped}\n`)
for (const { text, found, isMet } of proof.findings)
  process.stdout.write(`${isMet ? 'met   ' : 'MISSED'} ${text}: ${found}\n`)
process.stdout.write(
  `${JSON.stringify({ name, seed, isShort: short, translated, findings: proof.findings })}\n`,
)
const code = proof.findings.every((finding) => finding.isMet) ? 0 : 1
if (process.send === undefined) process.exit(code)
process.send({ skipped: proof.skipped, findings: proof.findings }, () => process.exit(code))

/** Ends the process with one line when there is nothing to run. */
function commandLine(): {
  path: string
  short: boolean
  translated: boolean
  seed: number | null
  folders: ProofFolders
} {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        seed: { type: 'string' },
        short: { type: 'boolean', default: false },
        translated: { type: 'boolean', default: false },
        // Read by support/nodes/is-test.ts.
        suite: { type: 'boolean' },
        to: { type: 'string' },
        against: { type: 'string' },
      },
    })
    const [named = ''] = positionals
    const number = values.seed === undefined ? null : Number(values.seed)
    if (number !== null && !Number.isSafeInteger(number))
      throw new Error(`--seed takes a whole number, not '${values.seed}'`)
    const { short, translated, to = null, against = null } = values
    return { path: named, short, translated, seed: number, folders: { to, against } }
  } catch (problem) {
    return endWith(problem instanceof Error ? (problem.message.split('\n')[0] ?? '') : String(problem))
  }
}

function endWith(line: string): never {
  process.stderr.write(`${line}\n`)
  process.exit(2)
}
