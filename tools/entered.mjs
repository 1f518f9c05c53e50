// `node tools/entered.mjs`: which files and functions of a front one warm call of each kind enters, by folder,
// after V8's own counts. The node runs the compiled modules one by one, not the joined program.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'

const HELP = `node tools/entered.mjs [--files]

  --files   also the names of the files that each call enters
`
/** Calls before the first one that counts: caches are filled, leases are there. */
const WARM_CALLS = 4
/** Decision: a file counts when each of so many calls enters it. The ticks of timers are in some of them only. */
const COUNTED_CALLS = 5
/** Milliseconds behind an answer: what the call leaves to the next turns of the loop belongs to it. */
const AFTER_MS = 30
const LOOK_MS = 5
/** Files that a call may enter at most. A call that enters more is marked, and the exit code is 1. */
const FILES_MAX = { 'GET /model': 39, 'POST /embeddings, built-in model': 77, 'POST /files': 82 }

/** What a front runs before its first module: at each SIGUSR2 it writes what has run since the last one. */
const COUNTER = `import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'
if (['front', 'spare'].includes(process.argv[2])) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const file = fileURLToPath(new URL('../../counts-' + process.pid, import.meta.url))
  process.on('SIGUSR2', () =>
    session.post('Profiler.takePreciseCoverage', (problem, taken) => {
      writeFileSync(file + '.new', JSON.stringify(taken.result))
      renameSync(file + '.new', file)
    }),
  )
}
`

const { values } = parseArgs({
  options: { files: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})
process.chdir(fileURLToPath(new URL('..', import.meta.url)))
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
await build()
const { PROGRAMS } = await import('./bundle.mjs')
const { startStand, STAND_MODEL } = await import('../dist/test/support/nodes/stand.js')

const home = mkdtempSync(join(tmpdir(), 'sluice-entered-'))
try {
  copyModules()
  const stand = await startStand({ program: join(home, 'bin/sluice') })
  try {
    process.exitCode = await measure(stand)
  } catch (problem) {
    process.stderr.write(stand.output())
    throw problem
  } finally {
    await stand.stop()
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** A package of its own, whose program is the modules themselves; a front counts from its first module on. */
function copyModules() {
  for (const path of ['bin', 'dist/src', 'catalog.json', 'package.json'])
    cpSync(path, join(home, path), { recursive: true })
  for (const path of ['node_modules', 'dist/typebox', 'dist/undici'])
    if (existsSync(path)) symlinkSync(join(process.cwd(), path), join(home, path))
  mkdirSync(join(home, 'dist/bundle'))
  for (const [name, path] of Object.entries(PROGRAMS)) {
    const from = `../${path.replace(/^dist\//, '')}`
    const isMain = name === 'run'
    const text = isMain
      ? `${COUNTER}export const run = async (args) => (await import('${from}')).run(args)\n`
      : `import * as all from '${from}'\nexport default all.default\n`
    writeFileSync(join(home, `dist/bundle/${name}.js`), text)
  }
}

/** @returns the exit code */
async function measure(stand) {
  const [front] = stand.fronts()
  let isOver = false
  const idle = await idleFunctions(front)
  for (const { name, call } of await calls(stand)) {
    for (let nth = 0; nth < WARM_CALLS; nth++) await call(nth)
    const taken = []
    for (let nth = 0; nth < COUNTED_CALLS; nth++)
      taken.push(filesOf(await ran(front, () => call(WARM_CALLS + nth)), idle))
    const inAll = [...taken[0]].filter(([file]) => taken.every((one) => one.has(file)))
    const most = FILES_MAX[name]
    const verdict = most === undefined ? '' : inAll.length > most ? `, over ${most}` : `, at most ${most}`
    isOver ||= most !== undefined && inAll.length > most
    const functions = inAll.reduce((sum, [, count]) => sum + count, 0)
    process.stdout.write(`\n${name}: ${inAll.length} files${verdict}, ${functions} functions\n`)
    process.stdout.write(`  ${byFolder(inAll)}\n`)
    if (values.files) for (const [file, count] of inAll.sort()) process.stdout.write(`    ${count} ${file}\n`)
  }
  return isOver ? 1 : 0
}

/** What a front does without a call: the ticks of its timers are no call's. */
async function idleFunctions(pid) {
  const idle = new Set()
  for (let nth = 0; nth < COUNTED_CALLS; nth++)
    for (const { id } of await ran(pid, () => sleep(AFTER_MS))) idle.add(id)
  return idle
}

/** Files with the number of their functions that ran, without those of an idle front. */
function filesOf(functions, idle) {
  const files = new Map()
  for (const { file, id } of functions) if (!idle.has(id)) files.set(file, (files.get(file) ?? 0) + 1)
  return files
}

/** The front's functions that ran while the call was made. */
async function ran(pid, call) {
  await take(pid)
  await call()
  await sleep(AFTER_MS)
  const root = pathToFileURL(`${home}/dist/src/`).href
  return (await take(pid))
    .filter(({ url }) => url.startsWith(root))
    .flatMap(({ url, functions }) => {
      const file = url.slice(root.length).replace(/\.js$/, '.ts')
      return functions
        .filter(({ ranges: [whole] }) => whole.count > 0)
        .map(({ functionName, ranges: [whole] }) => ({
          file,
          id: `${file} ${functionName} ${whole.startOffset}`,
        }))
    })
}

/** What the front has counted since the last time. */
async function take(pid) {
  const file = join(home, `counts-${pid}`)
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await sleep(LOOK_MS)
  const counts = JSON.parse(readFileSync(file, 'utf8'))
  rmSync(file)
  return counts
}

/** Folders with the number of their files, the largest first. */
function byFolder(files) {
  const counts = new Map()
  for (const [file] of files) {
    const folder = file
      .replace(/^server\//, '')
      .split('/')[0]
      .replace(/\.ts$/, '')
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([folder, count]) => `${folder} ${count}`)
    .join(', ')
}

async function calls({ port, keys }) {
  const send = async (method, path, body, { key = keys.inference_key } = {}) => {
    const isForm = body instanceof FormData
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(isForm || !body ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm || !body ? body : JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  }
  const management = { key: keys.management_key }
  const embed = (model) => () =>
    send('POST', '/embeddings', { model, input: 'The quick brown fox', encoding_format: 'float' })
  const saved = { model: STAND_MODEL, messages: [{ role: 'user', content: 'Hello' }] }
  await send('POST', '/presets/entered/chat/completions', saved, management)
  return [
    { name: 'GET /model', call: () => send('GET', '/model/sluice/lexical-1') },
    {
      name: 'PUT /vault/secrets',
      call: (nth) =>
        send('PUT', '/vault/secrets/entered', { hosts: ['api.example.com'], value: `value ${nth}` }),
    },
    {
      name: 'PUT /budgets',
      call: (nth) =>
        send('PUT', `/workspaces/${keys.workspace_id}/budgets/monthly`, { limit_usd: 100 + nth }, management),
    },
    { name: 'POST /embeddings, by preset', call: embed('@preset/entered') },
    { name: 'POST /embeddings, built-in model', call: embed('sluice/lexical-1') },
    {
      name: 'POST /videos',
      call: (nth) =>
        send('POST', '/videos', { model: 'sluice/clip-1', prompt: 'A paper boat', duration: 1, seed: nth }),
    },
    {
      name: 'POST /files',
      call: (nth) => {
        const form = new FormData()
        form.append('file', new Blob([`name,value\none,${nth}\n`], { type: 'text/csv' }), 'one.csv')
        return send('POST', '/files', form)
      },
    },
  ]
}
