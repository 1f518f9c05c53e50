import t from 'tap'
import { bodiesOfMany } from '../../support/inference/bodies/many-parts.ts'
import { translated } from '../../support/inference/bodies/translated.ts'
import { TEXT_PROTOCOLS } from '../../../src/schemas/models/protocols.ts'

/** More than a call takes arguments. */
const ARGUMENTS = 130_000

t.test('one turn may have more parts than a function call takes arguments', (t) => {
  const [body = {}] = bodiesOfMany(ARGUMENTS).chat
  for (const protocol of TEXT_PROTOCOLS) t.same(translated(['chat', protocol], body).refused, [])
  t.end()
})
