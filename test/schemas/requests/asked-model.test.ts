import t from 'tap'
import { ASKED_MODEL_CHARS_MAX, isKeptModelName } from '../../../src/server/operations/name-hints.ts'

const KNOWN = ['openai/text-embedding-3-small', 'Acme/one']
const NEAR = ['acme/one']

t.test('does not keep a text that may be a key, a part of a prompt, or no model name at all', async (t) => {
  const texts = [
    '',
    'please summarize this letter',
    'acme/one two',
    'acme/one\n',
    'acme/öne',
    '<b>acme/one</b>',
    "acme/one';--",
    '=acme/one',
    '-acme/one',
    'acme/one/two/three',
    'acme/one?key=1',
    'ada@example.com/one,',
    'acme/sk-one',
    'sk-one',
    'openai/sk-proj-ab12',
    'acme/AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY',
    'acme/AKIAIOSFODNN7EXAMPLE',
    'acme/ASIAIOSFODNN7EXAMPLE',
    'acme/glpat-abcdefghij_klmnopqrs',
    'acme/GOCSPX-abcdefghij_klmnopqrst',
    'acme/eyJhbGciOi.eyJzdWIi.c2ln',
    `acme/${'a1'.repeat(12)}`,
    `acme/${'one-'.repeat(16)}`,
  ]
  for (const text of texts) t.equal(isKeptModelName(text, NEAR, KNOWN), false, text)
})

t.test('keeps a name that resembles a catalogue name, or has an author of the catalogue', async (t) => {
  t.equal(isKeptModelName('acme/oen', NEAR, KNOWN), true)
  t.equal(isKeptModelName('ACME/two:free', [], KNOWN), true)
  t.equal(isKeptModelName('acme/asia-2', [], KNOWN), true)
  t.equal(isKeptModelName('nobody/canary', [], KNOWN), false)
  t.equal(isKeptModelName('canary', [], KNOWN), false, 'no author is none of the catalogue')
  t.equal(isKeptModelName('acmE', [], KNOWN), false)
})

t.test(`a name has ASKED_MODEL_CHARS_MAX (${ASKED_MODEL_CHARS_MAX}) characters at most`, async (t) => {
  const name = `acme/${'one-'.repeat(16)}`.slice(0, ASKED_MODEL_CHARS_MAX)
  t.equal(isKeptModelName(name, [], KNOWN), true)
  t.equal(isKeptModelName(`${name}x`, [], KNOWN), false)
})
