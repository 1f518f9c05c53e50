/** Calls of tools in streams of chat: the parts of each stand together, whatever the order of fragments. */
import t from 'tap'
import { HELD_UNITS_MAX, PART_UNITS } from '../../../src/dialects/part-queue.ts'
import {
  call,
  f,
  finish,
  one,
  openChatParts as open,
  readChatParts as read,
  stated,
  STOP,
  tool,
} from '../../support/inference/chat-parts.ts'
import { joinedParts } from '../../support/inference/cut-parts.ts'
import { streamOf } from '../../support/inference/provider-chunks.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'

const BOTH = [tool('c1'), stated('arguments', '{"a":1}'), tool('c2', 'g'), stated('arguments', '{"b":2}')]
const ORDERS: Readonly<Record<string, readonly (readonly [readonly object[], readonly WrittenPart[]])[]>> = {
  'one after the other': [
    [
      [
        call({ index: 0, id: 'c1', function: f('', 'f') }),
        call({ index: 0, function: f('{"a"') }),
        call({ index: 0, function: f(':1}') }),
        call({ index: 1, id: 'c2', function: f('', 'g') }),
        call({ index: 1, function: f('{"b":2}') }),
      ],
      BOTH,
    ],
  ],
  'interleaved by index': [
    [
      [
        call({ index: 0, id: 'c1', function: f('{', 'f') }, { index: 1, id: 'c2', function: f('{"b"', 'g') }),
        call({ index: 1, function: f(':2}') }, { index: 0, function: f('"a":1}') }),
      ],
      BOTH,
    ],
  ],
  'arguments before the name, and the name before the id': [
    [
      [
        call({ index: 0, function: f('{"a"') }),
        call({ index: 0, id: 'c1', function: f(':1}') }),
        call({ index: 0, function: f('', 'f') }),
        call({ index: 1, function: { name: 'g' } }),
        call({ index: 1, id: 'c2', function: f('{"b":2}') }),
      ],
      BOTH,
    ],
  ],
  'an index in later fragments alone': [
    [
      [
        call({ id: 'c1', function: f('{"a"', 'f') }),
        call({ index: 0, function: f(':1}') }),
        call({ id: 'c2', function: f('', 'g') }),
        call({ index: 1, function: f('{"b":2}') }),
      ],
      BOTH,
    ],
    ...[1, 7].map((index): readonly [readonly object[], readonly WrittenPart[]] => [
      [
        call({ id: 'c1', function: f('', 'f') }),
        call({ index, function: f('{"a"') }),
        call({ index, function: f(':1}') }),
        call({ id: 'c2', function: f('', 'g') }),
        call({ index: index + 1, function: f('{"b":2}') }),
      ],
      BOTH,
    ]),
  ],
  'whole calls without an index, or with the same': [
    [[call({ id: 'c1', function: f('{"a":1}', 'f') }, { id: 'c2', function: f('{"b":2}', 'g') })], BOTH],
    [
      [
        call({ index: 0, id: 'c1', function: f('{"a":1}', 'f') }),
        call({ index: 0, id: 'c2', function: f('{"b":2}', 'g') }),
      ],
      BOTH,
    ],
    [[call({ id: 'c1', function: f({ a: 1 }, 'f') }), call({ id: 'c2', function: f({ b: 2 }, 'g') })], BOTH],
  ],
  'fragments that follow without index and id': [
    [
      [
        call({ id: 'c1', function: f('', 'f') }),
        call({ function: f('{"a":1}') }),
        call({ id: 'c2', function: f('', 'g') }),
        call({ function: f('{"b":2}') }),
      ],
      BOTH,
    ],
  ],
  'an id, or a name, that comes again': [
    [
      [
        call({ index: 0, id: 'c1', function: f('{"a"', 'f') }),
        call({ index: 0, id: 'c1', function: f(':1}', 'f') }),
        call({ index: 1, id: 'c2', function: f('{"b"', 'g') }),
        call({ index: 1, id: 'x9', function: f(':2}', '') }),
      ],
      BOTH,
    ],
  ],
  'the same arguments once more at the end': [
    [
      [
        call({ index: 0, id: 'c1', function: f('{"a":1}', 'f') }),
        call({ index: 0, function: f(' ') }),
        call({ index: 0, function: f('{"a":1}') }),
        call({ index: 1, id: 'c2', function: f('{"b":2}', 'g') }),
      ],
      BOTH,
    ],
  ],
  'nothing at all, and a null': [
    [
      [
        one({ tool_calls: [] }),
        one({ tool_calls: null, content: null }),
        call({ index: 0, id: 'c1', function: f(null, 'f') }),
        call({ index: 0, id: null, function: null }),
      ],
      [tool('c1'), stated('arguments', '{}')],
    ],
  ],
  'an empty call before the others': [
    [
      [call({ index: 0, id: null, function: {} }), call({ index: 1, id: 'c1', function: f('{}', 'f') })],
      [tool('c1'), stated('arguments', '{}')],
    ],
  ],
}
t.test('reads fragments of calls in every order in which servers write them', async (t) => {
  for (const [name, streams] of Object.entries(ORDERS))
    for (const [events, parts] of streams)
      t.same(joinedParts(read(...events, STOP).parts).slice(0, -1), parts, name)
})

t.test('text that arrives during a call is held until the call is whole', async (t) => {
  const events = [
    call({ index: 0, id: 'c1', function: f('{"a', 'f') }),
    one({ content: 'x' }),
    call({ index: 0, function: f('":1}') }),
    one({ content: 'y' }),
    one({}, { finish_reason: 'tool_calls' }),
  ]
  t.same(joinedParts(read(...events).parts), [
    tool('c1'),
    stated('arguments', '{"a":1}'),
    stated('text', 'xy'),
    finish('tool_calls'),
  ])
})

t.test('arguments are passed on as they arrive, and a string in them may look like their end', async (t) => {
  const stream = open()
  const given = (event: object): readonly WrittenPart[] => stream.read(streamOf([event])).parts
  t.same(given(call({ index: 0, id: 'c1', function: f('', 'f') })), [tool('c1')])
  t.same(given(call({ index: 0, function: f('{"a":"}\\"') })), [stated('arguments', '{"a":"}\\"')])
  t.same(given(call({ index: 1, id: 'c2', function: f('{}', 'g') })), [])
  t.same(given(call({ index: 0, function: f('{"') })), [stated('arguments', '{"')])
  t.same(given(call({ index: 0, function: f('}') })), [
    stated('arguments', '}'),
    tool('c2', 'g'),
    stated('arguments', '{}'),
  ])
})

t.test('limits the parts that are held until a call is whole', async (t) => {
  const half = 'x'.repeat(HELD_UNITS_MAX / 2)
  const stream = open()
  const begun = [
    call({ index: 0, id: 'c1', function: f('{', 'f') }),
    call({ index: 1, id: 'c2', function: f(half, 'g') }),
  ]
  t.equal(stream.read(streamOf(begun)).failure, null)
  t.equal(stream.heldBytes, HELD_UNITS_MAX)
  t.equal(stream.read(streamOf([one({ content: half.slice(PART_UNITS) })])).failure, null)
  t.match(stream.read(streamOf([one({ content: 'x' })])).failure, { name: 'upstream_too_large' })
})

const SIGNED = 'x'.repeat(HELD_UNITS_MAX / 4 - PART_UNITS)
const sign = (id: string | null, format: string, data: string = SIGNED): object =>
  one({ reasoning_details: [{ type: 'reasoning.encrypted', data, format, id }] })
const OPEN_CALL = call({ index: 0, id: 'c0', function: f('{', 'f') })
const CALL_END = call({ index: 0, function: f('}') })

t.test('held signatures count towards the same limit, whatever they wait for', async (t) => {
  const google = 'google-gemini-v1'
  const waits: Readonly<Record<string, (nth: number) => object>> = {
    'after a call': () => sign(null, 'unknown'),
    'for calls that have not begun': (nth) => sign(`c${nth + 1}`, google),
    'for calls that wait themselves': (nth) =>
      one({
        tool_calls: [{ index: nth + 1, id: `c${nth + 1}`, function: f('', 'f') }],
        reasoning_details: [{ type: 'reasoning.encrypted', data: SIGNED, format: google, id: `c${nth + 1}` }],
      }),
  }
  for (const [name, wait] of Object.entries(waits)) {
    const stream = open()
    for (const event of [OPEN_CALL, ...[0, 1, 2, 3].map(wait)])
      t.equal(stream.read(streamOf([event])).failure, null, name)
    t.equal(stream.heldBytes, HELD_UNITS_MAX * 2, name)
    t.match(stream.read(streamOf([wait(4)])).failure, { name: 'upstream_too_large' }, name)
  }
})

t.test('held parts without a text count too, and parts that were already written do not', async (t) => {
  const many = Array.from({ length: HELD_UNITS_MAX / PART_UNITS }, () => sign(null, 'unknown', 'x'))
  t.match(read(OPEN_CALL, ...many).failure, { name: 'upstream_too_large' })
  const stream = open()
  const google = 'google-gemini-v1'
  const early = [sign('c1', google), sign('c1', google), sign('c2', google), sign('c9', google)]
  const calls = [1, 2].map((nth) => call({ index: nth, id: `c${nth}`, function: f('{}', 'f') }))
  const late = [sign('c2', google), sign(null, 'unknown', 'x'), one({ content: 'x' })]
  t.equal(stream.read(streamOf([OPEN_CALL, ...early, ...calls, ...late])).failure, null)
  t.equal(stream.read(streamOf([CALL_END])).failure, null)
  t.equal(stream.heldBytes, HELD_UNITS_MAX / 2, 'the signature of a call that never began')
  t.equal(stream.read(streamOf([STOP, '[DONE]'])).failure, null)
  t.equal(stream.heldBytes, 0)
})

t.test('a call without a name is invalid, and a call without an id gets an id', async (t) => {
  const unnamed = call({ index: 0, id: 'c', function: f('{}') })
  t.match(read(unnamed, STOP).end, { name: 'upstream_invalid' })
  t.match(read(unnamed, STOP, '[DONE]').failure, { name: 'upstream_invalid' })
  const nameless = call({ index: 0, function: f('{}', 'f') }, { index: 1, function: f('{}', 'f') })
  const ids = (id: string): readonly string[] =>
    read({ ...nameless, id }, STOP).parts.flatMap((part) => (part.kind === 'tool' ? [part.id] : []))
  t.match(ids('a'), [/^call_0_[0-9a-f]{16}$/, /^call_1_[0-9a-f]{16}$/])
  t.same(ids('a'), ids('a'))
  t.not(ids('a')[0], ids('b')[0])
})
