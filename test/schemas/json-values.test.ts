import t from 'tap'
import { hasMoreValues } from '../../src/schemas/values/json-values.ts'

const has = (json: string, most: number): boolean => hasMoreValues(Buffer.from(json), most)

t.test('objects, lists and members count, and what stands in texts does not', (t) => {
  const list = `[${'{},'.repeat(9)}{}]`
  t.notOk(has(list, 20))
  t.ok(has(list, 19))
  t.ok(has('[1,2,3,4]', 3))
  const text = JSON.stringify({ a: '[{,",\\'.repeat(50), b: '\\' })
  t.notOk(has(text, 2))
  t.ok(has(text, 1))
  t.notOk(has('{"a', 1), 'a text without its end')
  t.end()
})

t.test('a body of 32 MiB of nothing but objects is told at once', (t) => {
  const most = 1_048_576
  t.ok(has(`[${'{},'.repeat(11_000_000)}{}]`, most))
  t.notOk(has(`["${'{},'.repeat(11_000_000)}"]`, most))
  t.end()
})
