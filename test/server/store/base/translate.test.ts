import postgres from 'postgres'
import t from 'tap'
import { isComingUp } from '../../../../src/server/store/base/translate.ts'

function text(code: string): Error {
  return Object.assign(new postgres.PostgresError('said'), { code })
}

for (const code of ['ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNREFUSED']) {
  t.test(`a Postgres whose connection fails with ${code} may be starting up`, async (t) => {
    t.ok(isComingUp(Object.assign(new Error(code), { code })))
  })
}

for (const code of ['53300', '57P03']) {
  t.test(`a Postgres that reports ${code} may be starting up`, async (t) => {
    t.ok(isComingUp(text(code)))
  })
}

for (const code of ['28P01', '3D000', '42501']) {
  t.test(`a Postgres that reports ${code} is not starting up`, async (t) => {
    t.notOk(isComingUp(text(code)))
  })
}
