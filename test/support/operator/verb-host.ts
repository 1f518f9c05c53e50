import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../src/server/cli/run.ts'

/** The process of `runVerb`: runs one verb after the other, as `bin/sluice` would, and stays. */
export interface VerbOrder {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly args: readonly string[]
  readonly input: string
}

export interface VerbEnded {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const STANDARD_INPUT = 0
// The program as it is called: texts name it.
process.argv[1] = join(process.cwd(), 'bin/sluice')

process.on('message', (order: VerbOrder) => void obey(order).then((ended) => process.send?.(ended)))
// No other verb will come: end, whatever the last one left open.
process.on('disconnect', () => process.exit())

async function obey({ env, args, input }: VerbOrder): Promise<VerbEnded> {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, env)
  giveInput(input)
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)]
  const code = await run(args)
  return { code, stdout: stdout(), stderr: stderr() }
}

/** Verbs read the descriptor itself: the lowest free number is the one that was just closed. */
function giveInput(input: string): void {
  const file = join(tmpdir(), `sluice-verb-input-${process.pid}`)
  writeFileSync(file, input, { mode: 0o600 })
  closeSync(STANDARD_INPUT)
  openSync(file, 'r')
  rmSync(file)
}

/** @returns what was written since, to be asked once */
function captured(stream: NodeJS.WriteStream): () => string {
  const chunks: Buffer[] = []
  stream.write = (chunk: Uint8Array | string, ...more: unknown[]): boolean => {
    chunks.push(Buffer.from(chunk as string))
    const done = more.find((value) => typeof value === 'function')
    if (done !== undefined) setImmediate(done as () => void)
    return true
  }
  return () => Buffer.concat(chunks).toString()
}
