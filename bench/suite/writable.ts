/** Whether files can be written, asked before there are minutes of measuring to lose. */
import { access, constants, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes the folder that the file is to be in. @returns in one line why it cannot be written; null when it can
 */
export async function writeProblem(file: string): Promise<string | null> {
  // As of `--record=$FILE` where the shell knows no FILE: its folder is there, and it is none.
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
