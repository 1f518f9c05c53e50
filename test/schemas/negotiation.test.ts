import t from 'tap'
import { hasForm, takesCoding } from '../../src/schemas/lists/negotiation.ts'

t.test('brotli is accepted if it is listed, whatever else the header contains', async (t) => {
  for (const header of ['br', 'gzip, br', 'gzip,br;q=0.5', 'BR', 'br ; q=0.001 , gzip', 'br;q=1.0,*;q=0'])
    t.ok(takesCoding(header, 'br'), header)
})

t.test('brotli is not accepted if it is unlisted, has quality 0, or is part of another name', async (t) => {
  const without = [
    '',
    'gzip',
    'br;q=0',
    'br; q=0.000',
    'br;q = 0',
    'br;q=0 , gzip',
    'gzip, br ; Q=0.0 ',
    'x-br',
    'br-next',
    '*;q=0',
    undefined,
  ]
  for (const header of without) t.notOk(takesCoding(header, 'br'), String(header))
})

t.test('a representation matches one of its tags, weak or strong, or the star', async (t) => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) t.ok(hasForm(header, '"a"'), header)
  for (const header of ['"b"', '"a-br"', '', undefined]) t.notOk(hasForm(header, '"a"'), String(header))
})
