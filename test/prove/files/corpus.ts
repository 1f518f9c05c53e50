import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { CORPUS } from '../../support/corpus/corpus.ts'
import { stated, share, Table, verdictOf } from './corpus/judge.ts'
import { makeByLibraries, makeByPrograms } from './corpus/made.ts'
import { extension, FOREIGN, isValid, promisedType } from './corpus/oracles.ts'
import { filesUnder, packageFiles } from './corpus/packages.ts'
import { intruders, PLACES } from './corpus/polyglots.ts'
import { each, missingPackages } from './corpus/programs.ts'
import { VARIANTS } from './corpus/variants.ts'
import type { Program, Proof } from '../proof.ts'

/** What the libraries, programs and packages have written stays here for the next run. */
const FOLDER = `${tmpdir()}/sluice-corpus`
const FILES_MIN = 5_000
/**
 * Per cent of the valid files of a kind that may be refused or mistyped; of texts, whose kinds differ by
 * habit alone.
 */
const WRONG_PERCENT_MAX = 0.1
const WRONG_TEXT_PERCENT_MAX = 2
const TEXTS = /^text\/(?:csv|markdown|plain)/
/** Whole files of a kind that are changed in each way, and that are made polyglots. */
const CHANGED = 24
const JOINED = 6
const AT_ONCE = 2
/** Of files that are taken for what they are, every so many is shown to the readers of its type. */
const ASKED_EVERY = 8
const WRONG_SHOWN = 20

export const program: Program = {
  text: 'Files as programs make them, 5,000 and more: valid ones are taken for what they are, foreign ones and polyglots refused',
  async run(proof) {
    if (proof.isShort) {
      shortForm(proof)
      return
    }
    const missing = missingPackages()
    if (missing.length > 0) {
      proof.skipped = `first: apt-get install --no-install-recommends ${missing.join(' ')}`
      return
    }
    await mkdir(FOLDER, { recursive: true })
    if (await makeFiles(proof)) await fullForm(proof)
    else proof.skipped = 'npm could not install the libraries of tools/corpus'
  },
}

/** Lets libraries and programs write, once: the next run finds what is there. */
async function makeFiles({ say }: Proof): Promise<boolean> {
  if (existsSync(`${FOLDER}/made.done`)) return true
  if (!(await makeByLibraries({ folder: FOLDER, say }))) return false
  await makeByPrograms({ folder: FOLDER, say })
  await writeFile(`${FOLDER}/made.done`, '')
  return true
}

/** The hand-made corpus, in memory. */
function shortForm(proof: Proof): void {
  const table = new Table()
  for (const { name, make, expected } of CORPUS) {
    const row = table.row(typeof expected === 'string' ? expected : 'refused')
    const found = stated(verdictOf(make()))
    row.files++
    row.valid++
    if (typeof expected === 'string' ? found === expected : found.startsWith('refused')) continue
    row.mistyped++
    row.wrong.push(`${name}: ${found}`)
  }
  report(proof, table)
}

async function fullForm(proof: Proof): Promise<void> {
  const table = new Table()
  const made = await filesUnder(`${FOLDER}/made`)
  const packed = await packageFiles(FOLDER, proof.say)
  const files = [...made, ...[...packed.values()].flat()]
  const known = files.filter((path) => promisedType(path) !== null || FOREIGN.has(extension(path)))
  proof.say(`${known.length} files of ${files.length} are of a known kind`)
  const whole = new Map<string, string[]>()
  await each(known, AT_ONCE, async (path) => {
    if (!(await judgeFile(table, path))) return
    whole.set(extension(path), [...(whole.get(extension(path)) ?? []), path])
  })
  await judgeVariants(table, whole)
  report(proof, table)
  await judgePolyglots(proof, whole)
}

/** @returns whether the readers of its type open it and it was taken for that */
async function judgeFile(table: Table, path: string, kind?: string): Promise<boolean> {
  const type = promisedType(path)
  const row = table.row(kind ?? (type === null ? 'foreign' : type.replace(/^application\/vnd.*\./, '')))
  const verdict = verdictOf(await readFile(path))
  row.files++
  if (type === null) {
    row.valid++
    // What a program could not write, or writes as text, is text.
    if (verdict.ok && !/^text|json$/.test(verdict.mimeType)) {
      row.mistyped++
      row.wrong.push(`${path}: ${stated(verdict)}`)
    }
    return false
  }
  const isRight = verdict.ok && (verdict.mimeType === type || isSameText(type, verdict.mimeType))
  // The readers are asked of all that went wrong, and of some of the rest.
  const isAsked = !isRight || row.files % ASKED_EVERY === 1
  if (isAsked && !(await isValid(path, type))) return false
  row.valid++
  if (isRight) return true
  if (verdict.ok) row.mistyped++
  else row.refused++
  row.wrong.push(`${path}: ${stated(verdict)}`)
  return false
}

/** JSON of several values on lines is NDJSON, whatever its name is. */
function isSameText(promised: string, found: string): boolean {
  return promised === 'application/json' && found === 'application/x-ndjson'
}

async function judgeVariants(table: Table, whole: ReadonlyMap<string, readonly string[]>): Promise<void> {
  await mkdir(`${FOLDER}/changed`, { recursive: true })
  for (const [kind, variants] of Object.entries(VARIANTS)) {
    const files = spread(whole.get(kind) ?? [], CHANGED)
    const changes = variants.flatMap((variant) => files.map((file) => ({ variant, file })))
    await each(
      [...changes.entries()],
      AT_ONCE,
      async ([
        nth,
        {
          variant: [name, change],
          file,
        },
      ]) => {
        const path = `${FOLDER}/changed/${nth % (2 * AT_ONCE)}-${nth}.${kind}`
        await writeFile(path, change(await readFile(file)))
        await judgeFile(table, path, `${kind}, ${name}`)
      },
    )
  }
}

/** Some of a list, from its beginning to its end. */
function spread<T>(all: readonly T[], count: number): readonly T[] {
  const step = Math.max(1, all.length / count)
  return Array.from({ length: Math.min(count, all.length) }, (_, nth) => all[Math.floor(nth * step)]).filter(
    (entry) => entry !== undefined,
  )
}

const HOSTS = ['png', 'jpg', 'gif', 'webp', 'wav', 'mp3', 'flac', 'ogg', 'pdf', 'docx', 'xlsx', 'pptx']

async function judgePolyglots(proof: Proof, whole: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const accepted: string[] = []
  let tried = 0
  for (const kind of HOSTS) {
    for (const file of spread(whole.get(kind) ?? [], JOINED)) {
      const host = await readFile(file)
      for (const [name, intruder] of await intruders(FOLDER)) {
        for (const [where, join] of PLACES) {
          tried++
          const verdict = verdictOf(join(host, intruder))
          if (verdict.ok) accepted.push(`${file} with ${name} ${where}: ${stated(verdict)}`)
        }
      }
    }
  }
  for (const line of accepted.slice(0, WRONG_SHOWN)) proof.say(line)
  proof.check(
    'polyglots with archives, executables, scripts and pages are accepted: 0',
    accepted.length === 0,
    `${accepted.length} of ${tried}`,
  )
}

function report(proof: Proof, table: Table): void {
  for (const line of table.lines()) proof.say(line)
  for (const [kind, { wrong }] of table.rows) {
    for (const line of wrong.slice(0, WRONG_SHOWN)) proof.say(`${kind}: ${line}`)
  }
  if (!proof.isShort)
    proof.check(`at least ${FILES_MIN} files`, table.files >= FILES_MIN, String(table.files))
  const foreign = table.rows.get('foreign')
  if (foreign !== undefined)
    proof.check(
      'foreign types are accepted: 0',
      foreign.mistyped === 0,
      `${foreign.mistyped} of ${foreign.files}`,
    )
  const most = (kind: string): number => (TEXTS.test(kind) ? WRONG_TEXT_PERCENT_MAX : WRONG_PERCENT_MAX)
  const over = [...table.rows].filter(([kind, row]) => kind !== 'foreign' && share(row) > most(kind))
  const found = over.map(([kind, row]) => `${kind} ${share(row).toFixed(2)} %`).join(', ')
  const text = `of each kind at most ${WRONG_PERCENT_MAX} % is refused or mistyped, of texts ${WRONG_TEXT_PERCENT_MAX} %`
  proof.check(text, over.length === 0, found === '' ? 'none is over' : found)
}
