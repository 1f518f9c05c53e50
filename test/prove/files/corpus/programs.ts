import { spawn, spawnSync } from 'node:child_process'

/** Programs that make the files and judge them, each with the Debian package that has it. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  convert: 'imagemagick',
  identify: 'imagemagick',
  exiftool: 'libimage-exiftool-perl',
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffmpeg',
  flac: 'flac',
  gs: 'ghostscript',
  lame: 'lame',
  mutool: 'mupdf-tools',
  oggenc: 'vorbis-tools',
  pdfinfo: 'poppler-utils',
  qpdf: 'qpdf',
  sox: 'sox',
  unzip: 'unzip',
  zip: 'zip',
  '7z': 'p7zip-full',
}

/** Packages of the programs that are not there. */
export function missingPackages(): readonly string[] {
  const missing = Object.entries(PROGRAMS).filter(([program]) => spawnSync('which', [program]).status !== 0)
  return [...new Set(missing.map(([, name]) => name))]
}

/** Milliseconds that a program may take for one file, and to download or write many. */
const RUN_MS_MAX = 60_000
export const LONG_RUN_MS_MAX = 1_200_000

export interface Ran {
  readonly status: number
  readonly out: string
}

/**
 * Runs a program to its end; what it prints is kept up to a bound. @returns status -1 where it did not end by
 * itself
 */
export async function run(
  program: string,
  args: readonly string[],
  cwd?: string,
  timeout = RUN_MS_MAX,
): Promise<Ran> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'], timeout })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (out.length < 65_536) out += text
  })
  return new Promise((resolve) => {
    child.on('error', () => resolve({ status: -1, out }))
    child.on('close', (status) => resolve({ status: status ?? -1, out }))
  })
}

/** Works through a list, some entries at once. */
export async function each<T>(
  entries: readonly T[],
  atOnce: number,
  work: (entry: T) => Promise<unknown>,
): Promise<void> {
  const left = [...entries].reverse()
  const worker = async (): Promise<void> => {
    for (let entry = left.pop(); entry !== undefined; entry = left.pop()) await work(entry)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
