/** Checks that files can be written before minutes of measurements could be lost. */
import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Creates the folder of the file. @returns in one line why the file cannot be written; null when it can */
export async function writeProblem(file: string): Promise<string | null> {
  // As from `--record=$FILE` without a variable FILE: its folder exists, but the path is empty.
  if (file === '') return "'' cannot be written: it names no file"
  try {
    const folder = dirname(file)
    await mkdir(folder, { recursive: true })
    const there = await stat(file).catch(() => null)
    if (there?.isDirectory() === true) return `${file} cannot be written: it is a folder`
    await access(there === null ? folder : file, constants.W_OK)
    return null
  } catch (problem) {
    return `${file} cannot be written: ${problem instanceof Error ? (problem.message.split('\n')[0] ?? '') : String(problem)}`
  }
}
