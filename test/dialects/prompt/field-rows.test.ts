import t from 'tap'
import { fieldRows } from '../../../src/dialects/table/field-rows.ts'
import { DIALECTS, type Dialect } from '../../../src/schemas/inference/text-request.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../src/schemas/models/protocols.ts'

/** The class of a field at endpoints of a protocol. */
function classOf(dialect: Dialect, field: string, protocol: TextProtocol, isStrict: boolean) {
  return fieldRows(dialect, { protocol, isStrict }).find((row) => row.field === field)?.class
}

t.test('drops members of turns that are not sent to a strict provider of the same form', (t) => {
  for (const name of ['images', 'model', 'reasoning_details', 'cache_control'])
    t.equal(classOf('chat', `messages[assistant].${name}`, 'chat', true), 'dropped', name)
  t.equal(classOf('chat', 'messages[assistant].images', 'chat', false), 'passed')
  t.equal(classOf('chat', 'messages[assistant].name', 'chat', true), 'passed')
  t.equal(classOf('chat', 'messages[tool].name', 'chat', true), 'dropped')
  for (const name of ['subagent_id', 'subagent_items'])
    t.equal(classOf('responses', `input[function_call].${name}`, 'responses', true), 'dropped')
  t.equal(classOf('messages', 'messages.content[text].cache_control', 'messages', true), 'passed')
  t.end()
})

t.test('cache marks are dropped for strict providers of other forms, and mapped for others', (t) => {
  t.equal(classOf('messages', 'messages.content[text].cache_control', 'chat', true), 'dropped')
  t.equal(classOf('messages', 'messages.content[text].cache_control', 'chat', false), 'mapped')
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

t.test('a carried member is dropped if a protocol has no equivalent, and mapped otherwise', (t) => {
  const rows = [
    ['chat', 'messages.content[image_url].image_url.detail', 'mapped', 'dropped', 'dropped'],
    ['chat', 'messages.content[file].file.filename', 'mapped', 'mapped', 'dropped'],
    ['chat', 'tools[function].function.strict', 'mapped', 'mapped', 'dropped'],
    ['responses', 'tools[function].strict', 'passed', 'mapped', 'dropped'],
    ['messages', 'messages.content[document].title', 'mapped', 'passed', 'dropped'],
    ['messages', 'tools[custom].cache_control', 'dropped', 'passed', 'dropped'],
  ] as const
  for (const [dialect, field, responses, messages, gemini] of rows) {
    t.equal(classOf(dialect, field, 'responses', false), responses, `${field} at responses`)
    t.equal(classOf(dialect, field, 'messages', false), messages, `${field} at messages`)
    t.equal(classOf(dialect, field, 'gemini', false), gemini, `${field} at gemini`)
  }
  t.end()
})

t.test('the row of a tool that clients offer with each call states when the tool is dropped', (t) => {
  const limitOf = (dialect: Dialect, field: string, protocol: TextProtocol) =>
    fieldRows(dialect, { protocol, isStrict: false }).find((row) => row.field === field)?.limit
  t.equal(limitOf('responses', 'tools[web_search]', 'chat'), 'dropped with `external_web_access`')
  t.equal(limitOf('responses', 'tools[tool_search]', 'gemini'), 'dropped with `execution: "client"`')
  t.equal(limitOf('responses', 'tools[web_search]', 'responses'), undefined)
  t.equal(limitOf('chat', 'tools[web_search]', 'gemini'), undefined)
  t.end()
})

t.test('all kinds of endpoints have the same rows in the same order', (t) => {
  for (const dialect of DIALECTS) {
    const [first, ...others] = TEXT_PROTOCOLS.flatMap((protocol) =>
      [false, true].map((isStrict) => fieldRows(dialect, { protocol, isStrict }).map(({ field }) => field)),
    )
    for (const fields of others) t.same(fields, first)
  }
  t.end()
})
