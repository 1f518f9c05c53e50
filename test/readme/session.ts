import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { plainEnvironment } from '../support/load/load.ts'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { commandsOf, differences, eventsOf, isRun, type Answer, type Block, type Command } from './blocks.ts'

/** Files of a fresh clone of the repository; the commands make all others. */
const CLONE = [
  'bin',
  'dist',
  'node_modules',
  'deploy',
  'catalog.json',
  'package.json',
  'README.md',
  'CHANGELOG.md',
]

/** One step of the session: a command of the text, or what a code block comes to. */
export type Step = Command & { readonly file?: { readonly name: string; readonly text: string } }

export interface Stand {
  /** Stands for the clone. */
  readonly folder: string
  /** HOME, an empty folder next to it. */
  readonly home: string
}

/** The node that runs in the folder. */
export interface Node {
  /** Names of the text, each with its replacement here. */
  readonly names: readonly (readonly [string, string])[]
  readonly env: Readonly<Record<string, string>>
  /** Makes idempotency keys others, for a run that is not to be answered from an earlier one. */
  readonly attempt?: string
  /** Milliseconds until it is ended by force. */
  readonly msMax?: number
}

export interface Ended {
  /** One for each step that differs from the text; the run stops at the first step that fails. */
  readonly failures: readonly string[]
}

const SESSION_MS_MAX = 1_000_000
/** What begins a line of ours in the outputs; no program prints it. */
const SIGN = '\u001e'
const STATUS = new RegExp(`${SIGN}status (\\d+)\\n`, 'g')

const PRELUDE = `set -euo pipefail
sign() { printf '${SIGN}%s\\n' "$1"; printf '${SIGN}%s\\n' "$1" >&2; }
curl() { command curl --write-out '%{stderr}${SIGN}status %{http_code}\\n' "$@"; }
`

/**
 * A folder that looks like a clone, and an empty HOME.
 * @param more of another stand: what else is there already
 */
export function openStand(
  t: { teardown(done: () => void): unknown },
  more?: { readonly of: Stand; readonly names: readonly string[] },
): Stand {
  const place = temporaryFolder(t, 'readme')
  const stand = { folder: join(place, 'sluice'), home: join(place, 'home') }
  mkdirSync(stand.folder)
  mkdirSync(stand.home)
  for (const name of CLONE) symlinkSync(join(ROOT, name), join(stand.folder, name))
  for (const name of more?.names ?? [])
    symlinkSync(join(more?.of.folder ?? '', name), join(stand.folder, name))
  return stand
}

/**
 * Blocks that are run: shell as it stands, a catalogue by the verb that checks one, a script under the name
 * that its first line gives it. One that shows no output is only written: a later command runs it.
 */
export function stepsOf(blocks: readonly Block[]): Step[] {
  return blocks.filter(isRun).flatMap((block): Step[] => {
    if (block.language === 'sh') return commandsOf(block)
    if (block.language === 'json') return [scriptOf(block, 'mine.json', 'bin/sluice catalog check mine.json')]
    const name = /^\/\/ ([\w/-]+\.mjs)/.exec(block.text)?.[1]
    if (block.language !== 'js' || name === undefined)
      throw new Error(`${block.path}:${block.line}: no way to run this block`)
    return [scriptOf(block, name, /\n\/\/ .*$/.test(block.text) ? `node ${name}` : ':')]
  })
}

function scriptOf(block: Block, name: string, text: string): Step {
  const shown = /(?:^|\n)\/\/ (.*)$/.exec(block.text)?.[1]
  const answer =
    block.language === 'js' && shown !== undefined ? { status: null, body: undefined, printed: shown } : null
  return { path: block.path, line: block.line, text, answer, file: { name, text: block.text } }
}

/**
 * Runs steps in one bash, in the folder; the places that the text names are those of the node that runs
 * there, and of what stands around it.
 */
export async function runSession(
  stand: Stand,
  steps: readonly Step[],
  { names, env, attempt = '', msMax = SESSION_MS_MAX }: Node,
): Promise<Ended> {
  const mapped = (text: string): string =>
    names
      .reduce((mapped, [name, here]) => mapped.replaceAll(name, here), text)
      .replaceAll(/Idempotency-Key: [\w-]+/g, `$&${attempt}`)
  const script = steps.map((step, at) => `sign ${at}\n${mapped(writing(step) + step.text)}\n`).join('')
  const ran = await bash(`${PRELUDE}${script}sign end\n`, stand, { env, msMax })
  return { failures: failuresOf(steps, ran, mapped) }
}

/** Puts a code block where its first line says. */
function writing({ file }: Step): string {
  if (file === undefined) return ''
  return `mkdir -p "$(dirname ${file.name})"\ncat > ${file.name} <<'${SIGN}'\n${file.text}\n${SIGN}\n`
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A session of its own, so that whatever it started ends with it. */
function bash(
  script: string,
  stand: Stand,
  { env, msMax }: { readonly env: Readonly<Record<string, string>>; readonly msMax: number },
): Promise<Ran> {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: stand.folder,
    env: { ...plainEnvironment(), ...env, HOME: stand.home },
    detached: true,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  const overdue = setTimeout(() => endGroup(child.pid), msMax)
  // bash reads its script from standard input byte by byte, and so would a command of it: each has an empty
  // one by the function above.
  child.stdin.end(`main() {\n${script}}\nmain < /dev/null\n`)
  // What it left running would hold the outputs open.
  child.once('exit', () => endGroup(child.pid))
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(overdue)
      resolve({ code, stdout, stderr })
    })
  })
}

function endGroup(pid = 0): void {
  try {
    if (pid !== 0) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}

/**
 * Steps that failed, were refused without the text saying so, or answered something else than the text shows.
 */
function failuresOf(steps: readonly Step[], ran: Ran, mapped: (text: string) => string): string[] {
  const [printed, logged] = [byStep(ran.stdout), byStep(ran.stderr)]
  const reached = steps.filter((_, at) => printed.has(String(at)))
  const failures = reached.flatMap((step, at) => {
    const [body = '', errors = ''] = [printed.get(String(at)), logged.get(String(at))]
    const isLast = at === reached.length - 1
    const problems =
      isLast && ran.code !== 0
        ? [`ended with ${String(ran.code)}`]
        : answerProblems(step.answer, body, errors, mapped)
    return problems.map(
      (problem) =>
        `${step.path}:${step.line}: ${step.text}\n  ${problem}\n${body.slice(-800)}\n${errors.slice(-800)}`,
    )
  })
  return ran.code === 0 || failures.length > 0
    ? failures
    : [`ended with ${String(ran.code)}\n${ran.stderr.slice(-800)}`]
}

function answerProblems(
  answer: Answer | null,
  body: string,
  errors: string,
  mapped: (text: string) => string,
): string[] {
  const statuses = [...errors.matchAll(STATUS)].map((match) => Number(match[1]))
  if (answer === null || answer.status === null) {
    const refused = statuses.filter((status) => status >= 400 || status === 0)
    if (refused.length > 0) return [`answered ${refused.join(', ')}`]
  } else if (statuses.at(-1) !== answer.status)
    return [`answered ${String(statuses.at(-1))}, not ${answer.status}`]
  if (answer?.printed !== undefined && answer.printed !== body.trim())
    return [`printed ${body.trim()}, not ${answer.printed}`]
  if (answer?.body === undefined) return []
  const shown: unknown = JSON.parse(mapped(JSON.stringify(answer.body)))
  try {
    return differences(shown, body.startsWith('data: ') ? eventsOf(body) : JSON.parse(body))
  } catch {
    return ['answered no JSON']
  }
}

/** What was printed by each step. */
function byStep(output: string): ReadonlyMap<string, string> {
  const parts = output.split(new RegExp(`${SIGN}(?=(?:\\d+|end)\n)`)).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]))
}
