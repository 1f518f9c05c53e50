// Checks Prettier's layout and ESLint's typed rules in the files that changed since the last good run.
import { existsSync, readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { codeFiles } from './code.mjs'
import { digestOf } from './lint-kept.mjs'

const read = (path) => readFileSync(path, 'utf8')
const LOCK = 'tools/package-lock.json'
const PROJECTS = ['tsconfig.json', 'tsconfig.dashboard.json']

/** @returns whether every file is laid out as .prettierrc.json says */
export async function isFormatted(kept) {
  const rules = digestOf(...[LOCK, '.prettierrc.json', '.prettierignore', '.editorconfig'].map(read))
  const digests = codeFiles().map((path) => [path, digestOf(rules, read(path))])
  const changed = digests.filter(([path, digest]) => !kept.isGood('prettier', path, digest))
  const wrong = new Set()
  if (changed.length > 0) {
    const prettier = await import('prettier')
    for (const [path] of changed) if (!(await isLaidOut(prettier, path))) wrong.add(path)
  }
  for (const path of wrong) process.stdout.write(`${path} is not laid out: npm run format\n`)
  kept.keepAll(
    'prettier',
    digests.filter(([path]) => !wrong.has(path)),
  )
  tell('prettier', changed.length, digests.length)
  return wrong.size === 0
}

async function isLaidOut(prettier, path) {
  const { ignored, inferredParser } = await prettier.getFileInfo(path, { ignorePath: '.prettierignore' })
  if (ignored || inferredParser === null) return true
  const options = await prettier.resolveConfig(path, { editorconfig: true })
  return prettier.check(read(path), { ...options, filepath: path })
}

/**
 * A typed rule reads the imports of a file as well: a function that becomes async makes its callers faulty.
 * So the digest of a file covers the files that it imports. @returns whether ESLint finds no fault
 */
export async function isClean(kept) {
  const rules = digestOf(...[LOCK, 'tools/eslint.config.mjs', 'package-lock.json', ...PROJECTS].map(read))
  const files = codeFiles(['src', 'bench', 'test']).filter((path) => /\.tsx?$/.test(path))
  const texts = new Map(files.map((path) => [path, read(path)]))
  const digests = files.map((path) => [path, digestOf(rules, ...textsUnder(path, texts))])
  const changed = digests.filter(([path, digest]) => !kept.isGood('eslint', path, digest))
  const wrong = new Set(changed.length === 0 ? [] : await faulty(changed.map(([path]) => path)))
  kept.keepAll(
    'eslint',
    digests.filter(([path]) => !wrong.has(path)),
  )
  tell('eslint', changed.length, digests.length)
  return wrong.size === 0
}

/** @returns the text of the file and those of the files that it imports */
function textsUnder(path, texts) {
  const text = texts.get(path) ?? ''
  const imported = [...text.matchAll(/\b(?:from|import)[\s(]*'(\.[^']+)'/g)]
  return [text, ...imported.map(([, name]) => texts.get(posix.join(posix.dirname(path), name)) ?? '')]
}

/** Prints what ESLint finds. @returns the files in which it finds a fault */
async function faulty(paths) {
  const { ESLint } = await import('eslint')
  const eslint = new ESLint({
    overrideConfigFile: 'tools/eslint.config.mjs',
    overrideConfig: { languageOptions: { parserOptions: { programs: await programsOf(paths) } } },
  })
  const results = await eslint.lintFiles(paths)
  process.stdout.write(await (await eslint.loadFormatter('stylish')).format(results))
  return results
    .filter(({ messages }) => messages.length > 0)
    .map(({ filePath }) => posix.relative(process.cwd(), filePath))
}

/** Programs of these files and their imports: a program of the whole tree takes seconds longer. */
async function programsOf(paths) {
  const { default: ts } = await import('typescript')
  const wanted = new Set(paths.map((path) => resolve(path)))
  return PROJECTS.filter((project) => existsSync(project)).flatMap((project) => {
    const { config } = ts.readConfigFile(project, ts.sys.readFile)
    const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd())
    const roots = fileNames.filter((name) => wanted.has(resolve(name)))
    if (roots.length === 0) return []
    const settings = { ...options, noEmit: true }
    return [ts.createProgram(roots, settings, ts.createCompilerHost(settings, true))]
  })
}

function tell(tool, changed, all) {
  process.stdout.write(`${tool}: ${changed} of ${all} files had changed\n`)
}
