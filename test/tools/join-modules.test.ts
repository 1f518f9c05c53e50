import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Modules = ReadonlyMap<string, string>

const { joinModules } = (await import(pathToFileURL(join(ROOT, 'tools/join-modules.mjs')).href)) as {
  joinModules: (modules: Modules, entry: string) => string
}

/** The value that the last module leaves in `globalThis.told`. */
async function reported(modules: Readonly<Record<string, string>>): Promise<unknown> {
  const text = joinModules(new Map(Object.entries(modules)), 'main.js')
  await import(`data:text/javascript,${encodeURIComponent(text)}`)
  return Reflect.get(globalThis, 'told')
}

t.test('each module has its own names and the names that it imports', async (t) => {
  const modules = {
    'main.js':
      "import { one } from './parts/one.js';\nimport { two as other, Two } from './two.js';\nconst name = 'main';\n" +
      'globalThis.told = [name, one(), other, new Two().name];\n',
    'two.js':
      "import { one } from './parts/one.js';\nconst name = `two after ${one()}`;\nexport const two = name;\nexport class Two {\n    name = name;\n}\n",
    'parts/one.js': "const name = 'one';\nexport function one() {\n    return name;\n}\n",
  }
  t.same(await reported(modules), ['main', 'one', 'two after one', 'two after one'])
})

t.test('modules are joined in a clone whose lint tools are not installed', async (t) => {
  const clone = temporaryFolder(t, 'clone')
  mkdirSync(join(clone, 'tools'))
  for (const file of ['tools/join-modules.mjs', 'package.json']) copyFileSync(ROOT + file, join(clone, file))
  symlinkSync(`${ROOT}node_modules`, join(clone, 'node_modules'))
  const joined = (await import(pathToFileURL(join(clone, 'tools/join-modules.mjs')).href)) as {
    joinModules: typeof joinModules
  }
  t.match(joined.joinModules(new Map([['main.js', 'export const Range = 1;\n']]), 'main.js'), 'Range$1')
})

t.test('imports of packages by name stay, once each', async (t) => {
  const text = joinModules(
    new Map([
      ['main.js', "import { join } from 'node:path';\nimport { a } from './a.js';\na(join('x', 'y'));\n"],
      [
        'a.js',
        "import path from 'node:path';\nexport const a = (found) => (globalThis.told = [found, path.sep]);\n",
      ],
    ]),
    'main.js',
  )
  t.same(text.match(/^import .*/gm), ['import * as $x0 from "node:path";'])
})

t.test('a module runs once, though many need it', async (t) => {
  const once =
    'globalThis.times = (globalThis.times ?? 0) + 1;\nexport const times = () => globalThis.times;\n'
  const needs = "import { times } from './once.js';\nexport const seen = times;\n"
  const main =
    "import { seen } from './a.js';\nimport { seen as again } from './b.js';\nglobalThis.told = [seen(), again()];\n"
  t.same(await reported({ 'main.js': main, 'a.js': needs, 'b.js': needs, 'once.js': once }), [1, 1])
})

t.test('names that two modules export, and names of browsers, are kept apart', async (t) => {
  const modules = {
    'main.js':
      "import { one as first, Range } from './a.js';\nimport { one } from './b.js';\n" +
      'const one$1 = 4;\nglobalThis.told = [first, one, Range, one$1];\n',
    'a.js': 'export const one = 1;\nexport const Range = 3;\n',
    'b.js': 'export const one = 2;\nexport const kind = typeof URL;\n',
  }
  t.same(await reported(modules), [1, 2, 3, 4])
  const hiding = {
    'main.js':
      "import { seen } from './b.js';\nimport { URL } from './a.js';\nglobalThis.told = [seen, URL];\n",
    'a.js': 'export const URL = 1;\n',
    'b.js': 'export const seen = typeof URL;\n',
  }
  t.same(await reported(hiding), ['function', 1], 'a module that does not import the name sees the global')
})

t.test('refuses modules that would not run as intended', async (t) => {
  const refusal =
    (main: string, more: Readonly<Record<string, string>> = {}) =>
    (): string =>
      joinModules(new Map(Object.entries({ 'main.js': main, ...more })), 'main.js')
  const back = { 'a.js': "import { b } from './main.js';\nexport const a = b;\n" }
  t.throws(refusal("import { a } from './a.js';\n", back), /circle: main\.js → a\.js → main\.js/)
  t.throws(refusal("import { a } from './gone.js';\n"), /main\.js imports gone\.js, which is not there/)
  for (const form of [
    'export let a = 1;',
    'export default 1;',
    "export * from './a.js';",
    "import * as a from 'a';",
    "import './a.js';",
  ])
    t.throws(refusal(`${form}\n`), /main\.js has a form that is not known/, form)
})
