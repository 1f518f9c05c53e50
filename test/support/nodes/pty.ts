/** Programs on a terminal of their own, driven key by key. */
import { spawn, spawnSync } from 'node:child_process'
import { plainEnvironment } from '../load/load.ts'
import { ROOT } from '../source.ts'
import type { Teardown } from '../teardown.ts'
import { pause } from '../wait.ts'

export interface Pty {
  /** All that was written to the terminal. */
  output(): string
  /** Waits until it was written after `after` characters; resolves with the place after it. */
  until(pattern: RegExp, after?: number): Promise<number>
  keys(text: string): void
  resize(rows: number, columns: number): void
  readonly ended: Promise<PtyEnd>
}

export interface PtyEnd {
  readonly code: number
  /** Whether the terminal takes keys as it did before the program. */
  readonly is_restored: boolean
}

interface PtyInput {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly rows?: number
  readonly columns?: number
}

/** Why no terminal can be had here; false: one can. For the `skip` of a test. */
export const noPty: string | false =
  spawnSync('python3', ['-c', 'import pty, termios'], { stdio: 'ignore' }).status === 0
    ? false
    : 'python3 is not installed: nothing here opens a terminal'

const PRINTED_MS_MAX = 60_000
const ESCAPES = /\u001b(?:\[[0-9;?]*[A-Za-z]|\][^\u0007]*\u0007)/g

/** Starts a program as the leader of a session of its own; it is ended with the test. */
export function openPty(
  t: Teardown,
  { command, env = {}, cwd = ROOT, rows = 24, columns = 80 }: PtyInput,
): Pty {
  const order = JSON.stringify({
    command,
    rows,
    columns,
    cwd,
    env: { ...plainEnvironment(), TERM: 'xterm-256color', ...env },
  })
  const host = spawn('python3', ['-c', PROGRAM, order], { stdio: ['pipe', 'pipe', 'pipe'] })
  let [output, reported, isClosed] = ['', '', false]
  // A sign of several bytes may come in two pieces.
  host.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  host.stderr.setEncoding('utf8').on('data', (text: string) => (reported += text))
  host.once('close', () => (isClosed = true))
  host.stdin.on('error', () => undefined)
  const ended = new Promise<PtyEnd>((resolve, reject) => {
    host.once('close', () =>
      reported.startsWith('{')
        ? resolve(JSON.parse(reported) as PtyEnd)
        : reject(new Error(`the terminal broke: ${reported}`)),
    )
  })
  ended.catch(() => undefined)
  // Its end is that of the program on it.
  t.teardown(() => void host.stdin.end())
  const send = (value: unknown): void => void host.stdin.write(`${JSON.stringify(value)}\n`)
  return {
    output: () => output,
    async until(pattern, after = 0) {
      const endsAt = performance.now() + PRINTED_MS_MAX
      for (;;) {
        const found = pattern.exec(plainText(output.slice(after)))
        if (found !== null) return output.length
        if (performance.now() > endsAt || isClosed)
          throw new Error(`${pattern} was never shown:\n${plainText(output)}\n${reported}`)
        await pause(20)
      }
    },
    keys: (text) => send({ keys: text }),
    resize: (toRows, toColumns) => send({ rows: toRows, columns: toColumns }),
    ended,
  }
}

/** Without what moves the cursor and sets colours. */
export function plainText(output: string): string {
  return output.replaceAll(ESCAPES, '')
}

const PROGRAM = `
import fcntl, json, os, select, struct, subprocess, sys, termios, time
order = json.loads(sys.argv[1])
master, slave = os.openpty()
def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
resize(order['rows'], order['columns'])
before = termios.tcgetattr(slave)
child = subprocess.Popen(order['command'], stdin=slave, stdout=slave, stderr=slave, cwd=order['cwd'], env=order['env'],
    start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
waiting, is_open, text = [master, 0], True, b''
while True:
    # What it wrote last may come behind its end.
    is_over = child.poll() is not None
    readable = select.select(waiting, [], [], 0.3 if is_over else 0.05)[0]
    if master in readable:
        os.write(1, os.read(master, 65536))
    elif is_over and 0 not in readable:
        break
    if 0 in readable:
        piece = os.read(0, 65536)
        if piece == b'':
            waiting = [master]
            child.kill()
        text += piece
        *lines, text = text.split(b'\\n')
        for line in lines:
            wish = json.loads(line)
            if 'keys' in wish:
                os.write(master, wish['keys'].encode())
            else:
                resize(wish['rows'], wish['columns'])
sys.stderr.write(json.dumps({'code': child.returncode, 'is_restored': termios.tcgetattr(slave) == before}))
`
