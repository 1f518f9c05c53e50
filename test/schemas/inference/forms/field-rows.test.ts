import t from 'tap'
import { fieldRows } from '../../../../src/schemas/inference/forms/table/field-rows.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { TextProtocol } from '../../../../src/schemas/models/text-models.ts'

/** The class of a field at endpoints of a protocol. */
function classOf(dialect: Dialect, field: string, protocol: TextProtocol, isStrict: boolean) {
  return fieldRows(dialect, { protocol, isStrict }).find((row) => row.field === field)?.class
}

t.test('what a strict provider of the same form does not get within turns is dropped', (t) => {
  for (const name of ['images', 'model', 'reasoning_details', 'cache_control'])
    t.equal(classOf('chat', `messages[assistant].${name}`, 'chat', true), 'dropped', name)
  t.equal(classOf('chat', 'messages[assistant].images', 'chat', false), 'passed')
  t.equal(classOf('chat', 'messages[assistant].name', 'chat', true), 'passed')
  t.equal(classOf('chat', 'messages[tool].name', 'chat', true), 'dropped')
  for (const name of ['subagent_id', 'subagent_items'])
    t.equal(classOf('responses', `input[function_call].${name}`, 'responses', true), 'dropped')
  t.equal(classOf('messages', 'messages.content[text].cache_control', 'messages', true), undefined)
  t.end()
})

t.test('marks of the cache are dropped for strict providers of other forms, and carried for others', (t) => {
  t.equal(classOf('messages', 'messages.content[text].cache_control', 'chat', true), 'dropped')
  t.equal(classOf('messages', 'messages.content[text].cache_control', 'chat', false), undefined)
  t.equal(classOf('messages', 'tools[custom].cache_control', 'chat', true), 'dropped')
  t.end()
})

t.test('each field has one row', (t) => {
  for (const dialect of ['chat', 'responses', 'messages'] as const)
    for (const protocol of ['chat', 'responses', 'messages', 'gemini'] as const)
      for (const isStrict of [false, true]) {
        const fields = fieldRows(dialect, { protocol, isStrict }).map(({ field }) => field)
        t.same(
          fields.filter((field, nth) => fields.indexOf(field) !== nth),
          [],
        )
      }
  t.end()
})
