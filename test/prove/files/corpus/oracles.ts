import { readFile } from 'node:fs/promises'
import { run } from './programs.ts'

const FORMATS = 'application/vnd.openxmlformats-officedocument.'

/**
 * The type that a file's name promises; null for a type that is not accepted. The product never sees names.
 */
const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  docx: `${FORMATS}wordprocessingml.document`,
  xlsx: `${FORMATS}spreadsheetml.sheet`,
  pptx: `${FORMATS}presentationml.presentation`,
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  json: 'application/json',
  csv: 'text/csv',
  md: 'text/markdown',
  txt: 'text/plain',
  html: 'text/plain',
  svg: 'text/plain',
}

/** Foreign kinds: formats that programs write, neither texts nor any of the above. */
export const FOREIGN = new Set([
  ...[
    'bmp',
    'tiff',
    'ico',
    'psd',
    'jp2',
    'pcx',
    'tga',
    'xcf',
    'miff',
    'sgi',
    'dcm',
    'fits',
    'avif',
    'heic',
    'jxl',
  ],
  ...['m4a', 'aac', 'aiff', 'au', 'mp2', 'ac3', 'wma', 'caf', 'mka', 'amr', 'wv', 'tta'],
  ...['mp4', 'mkv', 'avi', 'mov', 'webm', 'flv', 'mpg', 'ts', 'wmv', 'ogv', '3gp'],
  ...[
    'xlsm',
    'xlsb',
    'xls',
    'ods',
    'odt',
    'odp',
    'ott',
    'zip',
    'gz',
    'xz',
    'bz2',
    '7z',
    'tar',
    'jar',
    'so',
    'mo',
    'qm',
    'ttf',
    'npz',
    'rds',
    'pyc',
  ],
])

export function extension(path: string): string {
  return /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
}

export function promisedType(path: string): string | null {
  return TYPES[extension(path)] ?? null
}

/** Whether the readers of the type open the file as one. */
export async function isValid(path: string, type: string): Promise<boolean> {
  if (type === 'application/pdf')
    return (await run('pdfinfo', [path])).status === 0 && (await run('mutool', ['info', path])).status === 0
  if (type.startsWith('image/')) {
    const { status, out } = await run('identify', ['-format', '%m ', path])
    return status === 0 && out.startsWith(type.slice('image/'.length).toUpperCase())
  }
  if (type.startsWith('audio/')) return isRecording(path, type)
  if (type.startsWith(FORMATS)) return [0, 1].includes((await run('unzip', ['-tqq', path])).status)
  return isText(path, type)
}

const CONTAINERS: Readonly<Record<string, RegExp>> = {
  'audio/mpeg': /^mp3,mp3$/m,
  'audio/wav': /^wav,/m,
  'audio/flac': /^flac,flac$/m,
  'audio/ogg': /^ogg,(?:vorbis|opus|flac|speex)$/m,
}

async function isRecording(path: string, type: string): Promise<boolean> {
  const entries = ['-select_streams', 'a:0', '-show_entries', 'format=format_name:stream=codec_name']
  const { status, out } = await run('ffprobe', ['-v', 'error', ...entries, '-of', 'json', path])
  if (status !== 0) return false
  const found = JSON.parse(out) as { streams?: { codec_name?: string }[]; format?: { format_name?: string } }
  return (
    CONTAINERS[type]?.test(`${found.format?.format_name ?? ''},${found.streams?.[0]?.codec_name ?? ''}`) ??
    false
  )
}

/** UTF-8 without NUL, and of the type that its name says, where that shows: NDJSON has values on lines. */
async function isText(path: string, type: string): Promise<boolean> {
  const bytes = await readFile(path)
  if (bytes.length === 0 || bytes.includes(0)) return false
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (type === 'application/json') return typeof JSON.parse(text) === 'object' && JSON.parse(text) !== null
    return (
      type !== 'text/csv' ||
      text
        .trim()
        .split('\n')
        .filter((line) => /[,;\t]/.test(line)).length >= 2
    )
  } catch {
    return false
  }
}
