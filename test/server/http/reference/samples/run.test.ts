/** Runs the samples of every operation against a node, each in the interpreter that readers have for it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import type { Preparation } from '../../../../../bench/operations/preparation.ts'
import { preparationOf } from '../../../../../bench/operations/preparations.ts'
import { startWorld, type World } from '../../../../../bench/operations/world.ts'
import { KEY_PREFIXES, type KeyKind } from '../../../../../src/schemas/keys/api-keys.ts'
import {
  exampleRequestOf,
  UPLOADED,
  type ExampleInput,
  type ExampleRequest,
} from '../../../../../src/server/http/reference/samples/example-request.ts'
import {
  KEY_VARIABLES,
  LANGUAGES,
  sampleOf,
  type Language,
} from '../../../../../src/server/http/reference/samples/samples.ts'
import { OPERATIONS } from '../../../../../src/server/operations/index.ts'
import { plainEnvironment } from '../../../../support/load/load.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

/** Hundreds of programs on a machine that does ten other things. */
t.setTimeout(900_000)

const FIRST_ERROR = 400
/** How a program in each language is run, and the end of its file's name. */
const RUNNERS: Readonly<Record<Language, { readonly command: string; readonly ending: string }>> = {
  curl: { command: 'sh', ending: '.sh' },
  python: { command: 'python3', ending: '.py' },
  typescript: { command: process.execPath, ending: '.mjs' },
}
const languages = (Object.keys(LANGUAGES) as Language[]).filter(
  (language) => language !== 'python' || spawnSync('python3', ['--version']).status === 0,
)

interface Ended {
  readonly code: number | null
  readonly output: string
}

interface Place {
  readonly folder: string
  readonly env: object
}

/** Runs a program in a process of its own. */
function run(language: Language, text: string, place: Place): Promise<Ended> {
  const { command, ending } = RUNNERS[language]
  const file = `sample${ending}`
  writeFileSync(join(place.folder, file), text)
  const child = spawn(command, [file], optionsOf(place))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

function optionsOf({ folder, env }: Place) {
  return { cwd: folder, env: { ...plainEnvironment(), ...env, no_proxy: '*', PYTHONIOENCODING: 'utf-8' } }
}

/**
 * Programs that run the files whose names they read, one a line, and write how each ended. A process for each
 * sample would cost ten times as much as the sample.
 */
const INTERPRETERS: Readonly<Partial<Record<Language, string>>> = {
  typescript: `
import { createInterface } from 'node:readline'
const write = process.stdout.write.bind(process.stdout)
for await (const file of createInterface({ input: process.stdin })) {
  let [code, output] = [0, '']
  process.stdout.write = (text) => ((output += text), true)
  await import(process.cwd() + '/' + file).catch((problem) => ([code, output] = [1, output + problem]))
  write(JSON.stringify({ code, output }) + '\\n')
}`,
  python: `
import contextlib, io, json, runpy, sys, traceback
for line in sys.stdin:
    code, output = 0, io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(line.strip(), run_name="__main__")
    except BaseException:
        code = 1
        output.write(traceback.format_exc())
    print(json.dumps({"code": code, "output": output.getvalue()}), flush=True)
`,
}

type RunSample = (text: string) => Promise<Ended>

/** Runs samples one after another, each as a file of its own. */
function openRunner(t: Test, language: Language, place: Place): RunSample {
  const { command, ending } = RUNNERS[language]
  const program = INTERPRETERS[language]
  if (program === undefined) return (text) => run(language, text, place)
  const interpreter = `interpreter${ending}`
  writeFileSync(join(place.folder, interpreter), program)
  const child = spawn(command, [interpreter], { ...optionsOf(place), stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.stdin.end())
  const lines = createInterface({ input: child.stdout })
  let count = 0
  return async (text) => {
    const file = `sample-${count++}${ending}`
    writeFileSync(join(place.folder, file), text)
    const ended = once(lines, 'line')
    child.stdin.write(`${file}\n`)
    const [line] = (await ended) as [string]
    return JSON.parse(line) as Ended
  }
}

/** What the sample of each language sends: what works once is prepared for each. */
async function inputsOf({ fresh, make }: Preparation, world: World): Promise<readonly ExampleInput[]> {
  if (fresh === null) return make(world, 0)
  const made: ExampleInput[] = []
  for (const nth of languages.keys()) made.push(...(await make(world, nth)))
  return made
}

/** What is wrong with how a sample ended; null: nothing. */
function faultOf(
  { code, output }: Ended,
  status: number,
  request: ExampleRequest,
  folder: string,
): string | null {
  if (status >= FIRST_ERROR)
    return code !== 0 && output.includes(String(status))
      ? null
      : `ended with ${code}, not by ${status}: ${output}`
  if (code !== 0) return `ended with ${code}: ${output}`
  if (typeof request.answer !== 'object') return null
  return statSync(join(folder, request.answer.file)).size > 0 ? null : `${request.answer.file} is empty`
}

t.test('the samples of every operation run in every language, and end as the operation does', async (t) => {
  const world = await startWorld()
  t.teardown(() => world.stop())
  const folders = languages.map(() => temporaryFolder(t, 'samples'))
  for (const folder of folders) writeFileSync(join(folder, UPLOADED), 'name,value\none,1\n')
  const kinds = Object.keys(KEY_PREFIXES) as KeyKind[]
  const env = Object.fromEntries(kinds.map((kind) => [KEY_VARIABLES[kind], world.keyOf(kind)]))
  const origin = `http://127.0.0.1:${world.stand.port}`
  const runners = languages.map((language, at) => {
    const folder = folders[at] ?? ''
    return { language, folder, runSample: openRunner(t, language, { folder, env }) }
  })
  for (const operation of OPERATIONS) {
    const preparation = preparationOf(operation)
    const inputs = await inputsOf(preparation, world)
    const status = preparation.status ?? operation.success.status
    const faults = await Promise.all(
      runners.map(async ({ language, folder, runSample }, at) => {
        const request = exampleRequestOf(operation, inputs[at % inputs.length])
        const fault = faultOf(await runSample(sampleOf(language, request, origin)), status, request, folder)
        return fault === null ? [] : [`${operation.id} in ${language} ${fault.slice(0, 500)}`]
      }),
    )
    t.same(faults.flat(), [], operation.id)
  }
})

t.test('a sample whose call is refused fails, and shows why', async (t) => {
  const world = await startWorld()
  t.teardown(() => world.stop())
  const folder = temporaryFolder(t, 'samples')
  const operation = OPERATIONS.find(({ id }) => id === 'keys.list')
  if (operation === undefined) throw new Error('there is no keys.list')
  const env = { [KEY_VARIABLES.management]: 'sk-sluice-mgmt-v1-no' }
  for (const language of languages) {
    const text = sampleOf(language, exampleRequestOf(operation), `http://127.0.0.1:${world.stand.port}`)
    const { code, output } = await run(language, text, { folder, env })
    t.not(code, 0, language)
    t.match(output, '401', language)
  }
})
