import t from 'tap'
import {
  CARRIED,
  fieldClass,
  OTHERS,
  pathsIn,
  topOf,
  TUNING,
} from '../../../src/dialects/table/field-table.ts'
import { STRICT_CUT } from '../../../src/schemas/inference/strict-members.ts'
import { DIALECTS } from '../../../src/schemas/inference/text-request.ts'
import { read, translated } from '../../support/inference/bodies/translated.ts'
import { TEXT_PROTOCOLS } from '../../../src/schemas/models/protocols.ts'

const LAX = { isStrict: false } as const

t.test('fields that the common form carries are mapped in their own dialect, and only there', (t) => {
  for (const dialect of DIALECTS)
    for (const name of CARRIED.flatMap((field) => pathsIn(field, dialect).map(topOf))) {
      t.equal(fieldClass(dialect, name, { protocol: dialect, ...LAX }), 'mapped', `${dialect} ${name}`)
      t.notOk(Object.hasOwn(OTHERS[dialect], name), `${dialect} ${name}`)
    }
  t.end()
})

t.test('each member of a dialect has a class for each protocol', (t) => {
  const classOf = (dialect: (typeof DIALECTS)[number], name: string) =>
    TEXT_PROTOCOLS.map((protocol) => fieldClass(dialect, name, { protocol, ...LAX }))
  t.same(classOf('chat', 'seed'), ['mapped', 'dropped', 'dropped', 'mapped'])
  t.same(classOf('chat', 'stop'), ['mapped', 'refused', 'mapped', 'mapped'])
  t.same(classOf('messages', 'stop_sequences'), ['mapped', 'refused', 'mapped', 'mapped'])
  t.same(classOf('messages', 'metadata'), ['mapped', 'mapped', 'mapped', 'dropped'])
  t.same(classOf('responses', 'text'), ['mapped', 'mapped', 'mapped', 'mapped'])
  t.same(classOf('chat', 'n'), Array(4).fill('refused'))
  t.same(classOf('chat', 'x_new'), Array(4).fill('dropped'))
  t.same(classOf('chat', 'constructor'), Array(4).fill('dropped'))
  t.same(classOf('messages', 'provider'), Array(4).fill('ours'))
  const strict = { protocol: 'chat', isStrict: true } as const
  t.equal(fieldClass('messages', 'top_k', strict), 'dropped')
  t.equal(fieldClass('messages', 'temperature', strict), 'mapped')
  t.end()
})

/** A value of each kind that is not a default. */
const VALUES = { number: 0.5, text: 'flex', object: { a: 1 } } as const

t.test('writers handle tuning fields as the table states, also for strict endpoints', (t) => {
  for (const dialect of DIALECTS)
    for (const { member, kind, names } of Object.values(TUNING)) {
      if (names[dialect]?.[0] !== member) continue
      for (const protocol of TEXT_PROTOCOLS)
        for (const isStrict of [false, true]) {
          if (protocol === 'messages' && member === 'service_tier') continue
          const { dropped } = translated([dialect, protocol], { [member]: VALUES[kind] }, { isStrict })
          const isDropped = fieldClass(dialect, member, { protocol, isStrict }) === 'dropped'
          const isFraction = protocol === 'gemini' && (member === 'seed' || member === 'top_k')
          t.equal(
            dropped.includes(member),
            isDropped || isFraction,
            `${dialect} ${protocol} ${member} ${isStrict}`,
          )
        }
    }
  t.end()
})

t.test('a default value is never reported as dropped, in any protocol', (t) => {
  for (const dialect of DIALECTS)
    for (const { member, names, defaults } of Object.values(TUNING)) {
      if (names[dialect]?.[0] !== member) continue
      for (const protocol of TEXT_PROTOCOLS)
        for (const value of [null, ...defaults])
          t.same(
            translated([dialect, protocol], { [member]: value }).dropped,
            [],
            `${dialect} ${protocol} ${member}`,
          )
    }
  t.end()
})

t.test('other members are reported as dropped, or refused with their path', (t) => {
  for (const dialect of DIALECTS)
    for (const [name, field] of Object.entries(OTHERS[dialect]))
      for (const protocol of TEXT_PROTOCOLS) {
        if (protocol === dialect) continue
        const written = translated([dialect, protocol], { [name]: 'odd' })
        const isRefused = field.class === 'refused'
        t.same(
          written.refused.map(({ path }) => path),
          isRefused ? [`/${name}`] : [],
          `${dialect} ${name}`,
        )
        t.same(written.dropped, isRefused ? [] : [name], `${dialect} ${name}`)
        for (const value of [null, ...field.defaults])
          t.same(read(dialect, { [name]: value }).others, [], `${dialect} ${name}`)
      }
  t.end()
})

t.test('translations and strict providers of the same form have the same defaults', (t) => {
  const both = Object.values(TUNING).filter(({ member }) => Object.hasOwn(STRICT_CUT, member))
  t.ok(both.length > 0)
  for (const { member, defaults } of both)
    t.same(
      STRICT_CUT[member]?.defaults,
      defaults.map((one) => JSON.stringify(one)),
      member,
    )
  t.end()
})
