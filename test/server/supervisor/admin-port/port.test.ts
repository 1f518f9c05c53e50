import t from 'tap'
import { isOwnHost } from '../../../../src/server/supervisor/admin-port/port.ts'

for (const host of [
  'localhost',
  'localhost:9090',
  'LocalHost.',
  'node.localhost:9090',
  '127.0.0.1:9090',
  '10.1.2.3',
  '[::1]:9090',
  '[fe80::1]',
  'ops.example:9090',
]) {
  t.test(`the dashboard answers to ${host}`, (t) => {
    t.ok(isOwnHost(host, 'ops.example'))
    t.end()
  })
}

for (const host of [
  undefined,
  '',
  'evil.example',
  'localhost.evil.example:9090',
  '127.0.0.1.evil.example',
  'evil.example@127.0.0.1',
  '[evil]',
  '::1',
  '127.0.0.1:9090:1',
  '1.2.3',
]) {
  t.test(`it does not answer to ${host}`, (t) => {
    t.notOk(isOwnHost(host, 'ops.example'))
    t.end()
  })
}
