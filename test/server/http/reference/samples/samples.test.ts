import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  exampleRequestOf,
  type ExampleRequest,
} from '../../../../../src/server/http/reference/samples/example-request.ts'
import {
  LANGUAGES,
  sampleOf,
  type Language,
} from '../../../../../src/server/http/reference/samples/samples.ts'
import {
  pythonLiteral,
  typescriptLiteral,
} from '../../../../../src/server/http/reference/samples/literals.ts'
import { OPERATIONS } from '../../../../../src/server/operations/index.ts'
import { ROOT } from '../../../../support/source.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const REQUEST: ExampleRequest = {
  method: 'POST',
  path: '/api/v1/echo',
  keyHeader: 'Authorization',
  keyKind: 'inference',
  contentType: 'application/json',
  upload: null,
  answer: 'json',
}

/** Texts that end a literal early where a language is not minded. */
const HOSTILE = {
  "it's": '"quoted" and \'quoted\'',
  '$(touch x) `touch x` $HOME ${x}': 'back\\slash\nline\ttab\u0000\u2028',
  nested: [true, false, null, 0.5, -1, { 'a-b': 'ünïcode 🙂', wide: 'w'.repeat(100) }],
}

t.test('a body with quotes, backslashes and shell characters is the same in every language', async (t) => {
  const python = spawnSync('python3', ['-c', `import json\nprint(json.dumps(${pythonLiteral(HOSTILE)}))`])
  const script = spawnSync(process.execPath, ['-p', `JSON.stringify(${typescriptLiteral(HOSTILE)})`])
  t.same(JSON.parse(script.stdout.toString()), HOSTILE)
  if (python.error === undefined) t.same(JSON.parse(python.stdout.toString()), HOSTILE)
  const curl = sampleOf('curl', { ...REQUEST, body: HOSTILE })
  const sh = spawnSync('sh', ['-c', `curl() { for last; do :; done; printf %s "$last"; }\n${curl}`])
  t.same(JSON.parse(sh.stdout.toString()), HOSTILE)
})

t.test('a sample contains the address of its node, and a variable instead of the key', async (t) => {
  for (const language of Object.keys(LANGUAGES) as Language[]) {
    const text = sampleOf(language, { ...REQUEST, keyKind: 'management' }, 'https://sluice.example')
    t.match(text, 'https://sluice.example/api/v1/echo')
    t.match(text, 'SLUICE_MANAGEMENT_KEY')
    t.notMatch(text, 'sk-sluice')
  }
})

t.test('when Authorization is for another server, the key is sent in its own header', async (t) => {
  for (const language of Object.keys(LANGUAGES) as Language[]) {
    const text = sampleOf(language, { ...REQUEST, keyHeader: 'x-sluice-key' })
    t.match(text, 'x-sluice-key')
    t.notMatch(text, /Authorization|Bearer/)
  }
})

t.test('every sample in TypeScript compiles', async (t) => {
  const folder = temporaryFolder(t, 'samples')
  for (const operation of OPERATIONS)
    writeFileSync(join(folder, `${operation.id}.mts`), sampleOf('typescript', exampleRequestOf(operation)))
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
  ]
  const files = OPERATIONS.map(({ id }) => join(folder, `${id}.mts`))
  const { stdout, status } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', ...options, '--typeRoots', 'node_modules/@types', ...files],
    { cwd: ROOT, encoding: 'utf8' },
  )
  t.same([status, stdout], [0, ''])
})
