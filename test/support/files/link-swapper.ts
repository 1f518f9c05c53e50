/**
 * A sandbox that means harm: in a thread of its own it makes a folder and a file of the container links to
 * the outside and back, as fast as it can, until it is stopped.
 */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface SwapperInput {
  /** The folder of the container; `dir/file` and `file` in it are swapped. */
  readonly container: string
  /** A folder outside, with `file` in it. */
  readonly outside: string
}

export interface Swapper {
  /** Resolves when it swaps: a thread takes its time to start. */
  readonly begun: Promise<unknown>
  /** @returns how often it swapped */
  stop(): Promise<number>
}

export function startSwapper(input: SwapperInput): Swapper {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: input })
  const begun = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  const count = begun.then(
    () => new Promise<number>((resolve, reject) => worker.on('message', resolve).on('error', reject)),
  )
  return {
    begun,
    async stop() {
      worker.postMessage('end')
      return count
    },
  }
}

/** Swaps of one turn. */
const FIRST_SWAPS = 100

function swap({ container, outside }: SwapperInput): void {
  const aside = join(container, 'aside')
  mkdirSync(aside)
  symlinkSync(outside, join(aside, 'dir-link'))
  symlinkSync(join(outside, 'file'), join(aside, 'file-link'))
  let count = 0
  let isOver = false
  parentPort?.on('message', () => (isOver = true))
  const turn = (): void => {
    for (let nth = 0; nth < 50; nth++) {
      place(join(container, 'dir'), join(aside, 'dir'))
      place(join(aside, 'dir-link'), join(container, 'dir'))
      place(join(container, 'dir'), join(aside, 'dir-link'))
      place(join(aside, 'dir'), join(container, 'dir'))
      // A rename over the other kind: at every moment the name is there, as one or the other.
      renameSync(join(aside, 'file-link'), join(container, 'file'))
      writeFileSync(join(aside, 'file'), 'inside')
      renameSync(join(aside, 'file'), join(container, 'file'))
      rmSync(join(aside, 'file-link'), { force: true })
      symlinkSync(join(outside, 'file'), join(aside, 'file-link'))
      count += 2
    }
    if (count === FIRST_SWAPS) parentPort?.postMessage(count)
    if (isOver) {
      parentPort?.postMessage(count)
      parentPort?.close()
    } else setImmediate(turn)
  }
  turn()
}

/** A write that came in between may have created the folder again. */
function place(from: string, to: string): void {
  for (;;) {
    try {
      return renameSync(from, to)
    } catch (cause) {
      if (!isTaken(cause)) throw cause
    }
    try {
      rmSync(to, { recursive: true, force: true })
    } catch (cause) {
      // Calls of the product go on making files in it.
      if (!isTaken(cause)) throw cause
    }
  }
}

function isTaken(cause: unknown): boolean {
  return /^(?:EEXIST|ENOTEMPTY|EISDIR|ENOTDIR)$/.test((cause as NodeJS.ErrnoException).code ?? '')
}

if (!isMainThread && workerData !== null) swap(workerData as SwapperInput)
