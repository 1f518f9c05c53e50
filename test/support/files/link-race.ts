/**
 * Reads and writes of a container against a sandbox that swaps links in; counts what came from, or went,
 * outside.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { startSwapper } from './link-swapper.ts'
import { must } from '../must.ts'
import { CONTAINER, drain, openDescriptors, staged } from './storage.ts'
import { until } from '../wait.ts'

const SECRET = 'from outside'
/**
 * Times the wanted number of opens until both have happened: one that found the file, and one that did not.
 */
export const OPENS_TIMES_MAX = 50

export interface RaceResult {
  readonly opens: number
  /** Opens that were answered with content, and with "no such file". */
  readonly read: number
  readonly unknown: number
  readonly swaps: number
  /**
   * Bytes of the outside that a read gave, listings that named or sized something outside, files written
   * outside.
   */
  readonly leaks: readonly string[]
  readonly descriptorsLeaked: number
}

export async function raceLinks(storage: Storage, folder: string, opens: number): Promise<RaceResult> {
  const container = join(folder, 'containers', CONTAINER.workspaceId, CONTAINER.containerId)
  const outside = join(folder, 'outside')
  await mkdir(join(container, 'dir'), { recursive: true })
  await mkdir(outside)
  await writeFile(join(outside, 'file'), SECRET)
  await writeFile(join(container, 'file'), 'inside')
  await writeFile(join(container, 'dir', 'file'), 'inside')
  const before = await openDescriptors()
  const swapper = startSwapper({ container, outside })
  await swapper.begun
  const leaks: string[] = []
  const counts = { read: 0, unknown: 0 }
  // The thread may begin late, or stand still.
  const isNoRace = (): boolean => counts.read === 0 || counts.unknown === 0
  for (let nth = 0; nth < opens || (isNoRace() && nth < OPENS_TIMES_MAX * opens); nth++) {
    const path = nth % 2 === 0 ? 'dir/file' : 'file'
    const text = await readText(storage, path)
    if (text === null) counts.unknown++
    else counts.read++
    if (text !== null && text !== 'inside') leaks.push(`read ${path}: ${text}`)
    if (nth % 50 === 0) leaks.push(...(await listed(storage)), ...(await written(storage, outside, nth)))
  }
  const swaps = await swapper.stop()
  // The thread's own descriptors are gone a moment after its last message.
  await until(async () => (await openDescriptors()) <= before).catch(() => undefined)
  return {
    opens,
    ...counts,
    swaps,
    leaks,
    descriptorsLeaked: Math.max(0, (await openDescriptors()) - before),
  }
}

async function readText(storage: Storage, path: string): Promise<string | null> {
  const file = await storage.containers.open(CONTAINER, path)
  if (!file.ok) {
    if (file.failure.name !== 'container_file_unknown')
      throw new Error(file.failure.name, { cause: file.failure.cause })
    return null
  }
  const text = (await drain(file.value.read(0, file.value.sizeBytes))).toString()
  await file.value.close()
  return text
}

async function listed(storage: Storage): Promise<readonly string[]> {
  const { files } = must(await storage.containers.list(CONTAINER, null, 100))
  return files
    .filter(({ sizeBytes, path }) => sizeBytes === SECRET.length || path.includes('link'))
    .map(({ path }) => `listed ${path}`)
}

async function written(storage: Storage, outside: string, nth: number): Promise<readonly string[]> {
  const staging = await staged(storage, Buffer.from('written'))
  await storage.containers.publish(CONTAINER, `dir/put-${nth}`, staging)
  await staging.discard()
  const names = await readdir(outside)
  const isTouched = names.length !== 1 || (await readFile(join(outside, 'file'), 'utf8')) !== SECRET
  return isTouched ? [`written outside: ${names.join(' ')}`] : []
}
