import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { CliFailure } from '../parts/verb.ts'

const MANIFEST_FILE = 'manifest.json'
const SUMS_FILE = 'SHA256SUMS'
/** Name of the file with the root keys, in the format of the node's key file. */
export const BACKUP_ROOT_KEYS = 'root-keys'
/** Every path that a backup may have: a restore writes no other path, so that foreign entries have no effect. */
const PATH =
  /^(tables\/[a-z_][a-z0-9_]*\.copy|objects\/[A-Za-z0-9_-]{1,2}\/[A-Za-z0-9_-]{1,128}|containers\/[0-9]+|containers\.jsonl|root-keys)$/

export const Manifest = Type.Object({
  format: Type.Literal('sluice-backup-1'),
  /** Version of the program that wrote the backup. */
  sluice: Type.String(),
  made_at: Type.String(),
  /** Names of the migrations of the database, the first one first. */
  migrations: Type.Array(Type.String(), { minItems: 1 }),
  tables: Type.Array(Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) })),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), value: Type.String(), is_called: Type.Boolean() }),
  ),
  ledger_months: Type.Array(Type.String()),
  /** Number of objects; null: they are in a bucket and were left there. */
  objects: Type.Union([Type.Null(), Type.Integer()]),
  container_files: Type.Union([Type.Null(), Type.Integer()]),
  /** Files that were deleted while the backup ran. */
  missing_objects: Type.Array(Type.String()),
  has_root_keys: Type.Boolean(),
  /** Root keys that the backup's contents need. */
  root_key_ids: Type.Array(Type.String()),
  sums_sha256: Type.String(),
})
export type Manifest = Static<typeof Manifest>

const isManifest = Compile(Manifest)

/** Writes a backup. The manifest is written last: a folder without one is not a backup. */
export class BackupWriter {
  readonly folder: string
  readonly #sums: number
  readonly #sumsHash: Hash = createHash('sha256')
  files = 0
  bytes = 0

  /** Creates the folder. Throws CliFailure when the folder is not empty. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (readdirSync(folder).length > 0) throw new CliFailure(`${folder} is not empty: give a new folder`)
    this.folder = folder
    this.#sums = openSync(join(folder, SUMS_FILE), 'wx', 0o600)
  }

  /** Writes one file and syncs it to the disk. @param path a path that PATH allows */
  async add(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    if (!PATH.test(path)) throw new Error(`a backup cannot contain the path ${path}`)
    const at = join(this.folder, path)
    mkdirSync(dirname(at), { recursive: true, mode: 0o700 })
    const hash = createHash('sha256')
    const file = await open(at, 'wx', 0o600)
    try {
      for await (const piece of content) {
        hash.update(piece)
        this.bytes += piece.length
        await file.writeFile(piece)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    this.files++
    const line = `${hash.digest('hex')}  ${path}\n`
    this.#sumsHash.update(line)
    writeSync(this.#sums, line)
  }

  /** Writes the manifest, the last step. */
  end(manifest: Omit<Manifest, 'sums_sha256' | 'format'>): void {
    fsyncSync(this.#sums)
    closeSync(this.#sums)
    const whole: Manifest = {
      format: 'sluice-backup-1',
      ...manifest,
      sums_sha256: this.#sumsHash.digest('hex'),
    }
    writeFileSync(join(this.folder, MANIFEST_FILE), `${JSON.stringify(whole, null, 2)}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    })
  }
}

/** A backup whose files were all read and match its manifest. */
export interface Backup {
  readonly folder: string
  readonly manifest: Manifest
  /** Paths of its files, including those of tables, containers and keys. */
  readonly paths: readonly string[]
}

/** Reads every byte of a backup. Throws CliFailure when a file differs from the written one. */
export async function openBackup(folder: string): Promise<Backup> {
  const manifest = readManifest(folder)
  if ((await sha256Of(join(folder, SUMS_FILE))) !== manifest.sums_sha256)
    throw new CliFailure(`${folder}: ${SUMS_FILE} differs from the manifest`)
  const paths: string[] = []
  for await (const line of createInterface({ input: createReadStream(join(folder, SUMS_FILE)) })) {
    const [sum = '', path = ''] = line.split('  ')
    if (!PATH.test(path))
      throw new CliFailure(
        `${folder}: ${SUMS_FILE} names ${JSON.stringify(path)}, which is not a valid path in a backup`,
      )
    if ((await sha256Of(join(folder, path))) !== sum) throw new CliFailure(`${folder}: ${path} is damaged`)
    paths.push(path)
  }
  const there = new Set(paths)
  const needed = [
    ...manifest.tables.map(({ name }) => tablePath(name)),
    ...(manifest.has_root_keys ? [BACKUP_ROOT_KEYS] : []),
  ]
  const missing = needed.filter((path) => !there.has(path))
  if (missing.length > 0) throw new CliFailure(`${folder}: ${missing.join(', ')} is missing`)
  return { folder, manifest, paths }
}

export function tablePath(name: string): string {
  return `tables/${name}.copy`
}

/** Spreads objects over folders: many files in one folder are slow on some file systems. */
export function objectPath(objectId: string): string {
  return `objects/${objectId.slice(-2)}/${objectId}`
}

function readManifest(folder: string): Manifest {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8'))
    if (isManifest.Check(value)) return value
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new CliFailure(`${folder}: ${MANIFEST_FILE} is not JSON`, { cause })
    throw new CliFailure(`${folder} is not a complete backup: it has no readable ${MANIFEST_FILE}`, { cause })
  }
  throw new CliFailure(`${folder}: ${MANIFEST_FILE} is from a backup that this version cannot read`)
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch (cause) {
    throw new CliFailure(`${path} cannot be read`, { cause })
  }
  return hash.digest('hex')
}
