import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bareEnvironment } from '../../../config.ts'
import { ownPlatform, platformProblem, type Platform } from '../../../supervisor/checks.ts'
import { PACKAGE_ROOT } from '../../../supervisor/version.ts'
import { bad, good, type Finding } from './finding.ts'

/** Milliseconds that a process which only loads the front end's binary may take. Decision. */
const FRONT_END_MS_MAX = 8_000

export function platform(read: () => Platform = ownPlatform): Finding {
  const own = read()
  const problem = platformProblem(own)
  if (problem !== null)
    return bad('platform', problem, 'use a supported pair of Node and glibc (docs/operate/requirements.md)')
  const glibc = own.glibc === null ? '' : `, glibc ${own.glibc}`
  return good('platform', `Node ${own.node}, ABI ${own.abi}${glibc}`)
}

export interface FrontEndInput {
  /** Folder from which the package is resolved; absent: the folder of Sluice. */
  readonly root?: string
  readonly signal?: AbortSignal
}

/** Loads the binary in a separate process, since the binary may end its process. */
export function frontEnd({
  root = fileURLToPath(PACKAGE_ROOT),
  signal,
}: FrontEndInput = {}): Promise<Finding> {
  const args = ['--input-type=module', '--eval', "await import('uWebSockets.js')"]
  const options = {
    cwd: root,
    env: bareEnvironment(),
    timeout: FRONT_END_MS_MAX,
    ...(signal === undefined ? {} : { signal }),
  }
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, _stdout, stderr) => {
      if (error === null) return resolve(good('front_end', 'the uWebSockets.js binary loads'))
      const silent =
        error.killed === true
          ? `the binary did not load within ${FRONT_END_MS_MAX / 1_000} s`
          : `the process exited while loading the binary (${endOf(error)})`
      resolve(
        bad(
          'front_end',
          reasonIn(stderr) ?? silent,
          'reinstall Sluice with this Node.js version (`npm ci` in a clone)',
        ),
      )
    })
  })
}

/** The line of a stack with the message; the lines after it are places in the code. */
function reasonIn(stderr: string): string | null {
  const lines = stderr.split('\n').map((line) => line.trim())
  return lines.find((line) => /^\w*(Error|Exception)\b.*: /.test(line)) ?? null
}

function endOf({ code, signal }: { readonly code?: unknown; readonly signal?: unknown }): string {
  return typeof signal === 'string' ? signal : `exit code ${String(code)}`
}
