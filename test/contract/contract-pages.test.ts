/**
 * The pages of the contract say what operations answer: each row that has a method and a path is compared
 * with its operation.
 */
import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { prefixOf } from '../../src/server/operations/define.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { API_PREFIX } from '../../src/schemas/api-prefix.ts'
import { FAILURES } from '../../src/schemas/failures.ts'
import { ROOT } from '../support/source.ts'

/** Error statuses by `METHOD /path` below the prefix. 401 belongs to each operation, and no table says it. */
const ANSWERED = new Map(
  OPERATIONS.filter((operation) => prefixOf(operation) === API_PREFIX).map(
    ({ method, path, statuses, success }) => {
      const ofRanges = success.content === undefined ? [] : FAILURES.range_unsatisfiable.status
      return [`${method.toUpperCase()} ${path}`, textOf([...statuses, ...ofRanges])]
    },
  ),
)

function textOf(statuses: readonly number[]): string {
  return [...statuses].sort((one, other) => one - other).join(' ')
}

/**
 * Rows of tables that say something else than the operations do, one line each; and how many were compared.
 */
function compared(text: string): { readonly wrong: readonly string[]; readonly count: number } {
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => {
      const cells = line.split('|').slice(1, -1)
      const reported = textOf(
        [...(cells.at(-1) ?? '').matchAll(/\b[45]\d\d\b/g)].map(([status]) => Number(status)),
      )
      return [...(cells[0] ?? '').matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]+)`/g)].map(
        ([, name = '']) => ({ name, reported }),
      )
    })
  const wrong = rows.flatMap(({ name, reported }) => {
    const answered = ANSWERED.get(name)
    if (answered === undefined) return [`${name} is no operation`]
    return answered === reported ? [] : [`${name} answers ${answered}, and the page says ${reported}`]
  })
  return { wrong, count: rows.length }
}

t.test('the tables of the contract give the error statuses of the operations', async (t) => {
  const pages = readdirSync(`${ROOT}docs/inside`).filter((name) => name.startsWith('contract'))
  const { wrong, count } = compared(
    pages.map((name) => readFileSync(`${ROOT}docs/inside/${name}`, 'utf8')).join('\n'),
  )
  t.same(wrong, [])
  t.ok(count > 60, `${count} rows`)
})

t.test('a row with a wrong status, and one of an operation that is not there, are found', async (t) => {
  const text =
    '| `GET /key` | it | 500 |\n| `GET /key` | it | 404 500 |\n| `GET /gone`, `GET /credits` | it | 400 403 500 |\nOf `GET /nothing`.'
  t.same(compared(text), {
    wrong: ['GET /key answers 500, and the page says 404 500', 'GET /gone is no operation'],
    count: 4,
  })
})
