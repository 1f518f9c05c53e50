/** Samples that need packages of their own are not run: what can be checked of them is their syntax. */
import { spawnSync } from 'node:child_process'
import { transformSync } from 'esbuild'
import t from 'tap'
import { USER_PAGES } from '../support/pages.ts'
import { blocksOf, type Block } from './blocks.ts'

const blocks = USER_PAGES.flatMap(({ path, text }) => blocksOf(text, path))
const of = (language: string): readonly Block[] => blocks.filter((block) => block.language === language)
const placeOf = ({ path, line }: Block): string => `${path}:${line}`

const PARSE = 'import ast, sys; ast.parse(sys.stdin.read())'
const python = spawnSync('python3', ['--version']).error === undefined
const skip = python ? false : 'no python3 on the PATH'

function pythonFault(text: string): string {
  const { status, stderr } = spawnSync('python3', ['-c', PARSE], { input: text, encoding: 'utf8' })
  return status === 0 ? '' : (stderr.trim().split('\n').at(-1) ?? 'failed')
}

function typescriptFault(text: string): string {
  try {
    transformSync(text, { loader: 'ts', logLevel: 'silent' })
    return ''
  } catch (error) {
    return String(error)
  }
}

t.test('each Python sample of the guides is valid', { skip }, async (t) => {
  t.match(pythonFault('print("a"'), 'SyntaxError')
  t.same(
    of('python').flatMap((block) => {
      const fault = pythonFault(block.text)
      return fault === '' ? [] : [`${placeOf(block)}: ${fault}`]
    }),
    [],
  )
})

t.test('each TypeScript sample of the guides is valid', async (t) => {
  t.match(typescriptFault('const a = ('), /./)
  t.same(
    of('ts').flatMap((block) => {
      const fault = typescriptFault(block.text)
      return fault === '' ? [] : [`${placeOf(block)}: ${fault}`]
    }),
    [],
  )
})

t.test('the guides of calls show Python next to curl', async (t) => {
  const pages = ['chat', 'responses', 'messages', 'embeddings', 'streaming', 'errors', 'files', 'keys']
  const having = new Set(of('python').map(({ path }) => path))
  t.same(
    pages.filter((page) => !having.has(`docs/use/${page}.md`)),
    [],
  )
})
