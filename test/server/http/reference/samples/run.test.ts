/** Runs the samples of every operation as a reader does who pastes them, against a node. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
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

/** Hundreds of programs on a machine that does ten other things. */
t.setTimeout(900_000)

const FIRST_ERROR = 400
/** How a program in each language is run, and the name of its file. */
const RUNNERS: Readonly<Record<Language, { readonly command: string; readonly file: string }>> = {
  curl: { command: 'sh', file: 'sample.sh' },
  python: { command: 'python3', file: 'sample.py' },
  typescript: { command: process.execPath, file: 'sample.mjs' },
}
const languages = (Object.keys(LANGUAGES) as Language[]).filter(
  (language) => language !== 'python' || spawnSync('python3', ['--version']).status === 0,
)

interface Ended {
  readonly code: number | null
  readonly output: string
}

function run(
  language: Language,
  text: string,
  place: { readonly folder: string; readonly env: object },
): Promise<Ended> {
  const { command, file } = RUNNERS[language]
  writeFileSync(join(place.folder, file), text)
  const env = { ...plainEnvironment(), ...place.env, no_proxy: '*', PYTHONIOENCODING: 'utf-8' }
  const child = spawn(command, [file], { cwd: place.folder, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
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
  const folders = languages.map(() => mkdtempSync(join(tmpdir(), 'sluice-samples-')))
  t.teardown(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))
  for (const folder of folders) writeFileSync(join(folder, UPLOADED), 'name,value\none,1\n')
  const kinds = Object.keys(KEY_PREFIXES) as KeyKind[]
  const env = Object.fromEntries(kinds.map((kind) => [KEY_VARIABLES[kind], world.keyOf(kind)]))
  const origin = `http://127.0.0.1:${world.stand.port}`
  for (const operation of OPERATIONS) {
    const preparation = preparationOf(operation)
    const inputs = await inputsOf(preparation, world)
    const status = preparation.status ?? operation.success.status
    const faults = await Promise.all(
      languages.map(async (language, at) => {
        const folder = folders[at] ?? ''
        const request = exampleRequestOf(operation, inputs[at % inputs.length])
        const ended = await run(language, sampleOf(language, request, origin), { folder, env })
        const fault = faultOf(ended, status, request, folder)
        return fault === null ? [] : [`${operation.id} in ${language} ${fault.slice(0, 500)}`]
      }),
    )
    t.same(faults.flat(), [], operation.id)
  }
})

t.test('a sample whose call is refused fails, and shows why', async (t) => {
  const world = await startWorld()
  t.teardown(() => world.stop())
  const folder = mkdtempSync(join(tmpdir(), 'sluice-samples-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
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
