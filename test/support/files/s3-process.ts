/**
 * The small S3 server in a process of its own, which keeps sizes and no bytes: gigabytes may be put into it.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../load/load.ts'
import { FakeS3, s3Settings } from './s3.ts'
import { stopServer } from '../nodes/spawned.ts'

export interface S3Process {
  /** Settings of a node that stores in it. */
  readonly settings: Readonly<Record<string, string>>
  /** Bytes of bodies that it reads a second from now on, over all connections. */
  slowTo(readBytesPerS: number): void
  stop(): Promise<void>
}

export async function startS3Process(): Promise<S3Process> {
  const child = fork(fileURLToPath(import.meta.url), { env: plainEnvironment(), execArgv: [] })
  const settings = await new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Readonly<Record<string, string>>))
    child.once('exit', () => reject(new Error('the S3 server did not start')))
  })
  return {
    settings,
    slowTo: (readBytesPerS) => void child.send({ readBytesPerS }),
    stop: () => stopServer(child),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const s3 = await FakeS3.start({ teardown: () => undefined })
  s3.keepsBodies = false
  process.on('message', (message) => {
    s3.readBytesPerS = (message as { readonly readBytesPerS: number | null }).readBytesPerS ?? Infinity
  })
  // Its starter is gone.
  process.on('disconnect', () => process.exit(0))
  process.send?.(s3Settings(s3))
}
