import t from 'tap'
import { REDIS_HZ, RedisRest, RESTING_REDIS_HZ } from '../../../../src/server/supervisor/redis/redis-rest.ts'

const MANY_LOOKS = 100
const turn = (): Promise<void> => new Promise(setImmediate)

function open(isTaken: () => boolean = () => true) {
  const set: number[] = []
  const rest = new RedisRest((hz) => {
    set.push(hz)
    return Promise.resolve(isTaken())
  })
  const look = async (hasCalls: boolean, looks = 1) => {
    for (let nth = 0; nth < looks; nth++) {
      rest.look(hasCalls)
      await turn()
    }
  }
  return { rest, set, look }
}

t.test('a server without calls gets the resting setting, and with new calls the normal one', async (t) => {
  const { set, look } = open()
  await look(true, MANY_LOOKS)
  await look(false, 3)
  t.same(set, [], 'a short pause is no rest')
  await look(false, MANY_LOOKS)
  t.same(set, [RESTING_REDIS_HZ])
  await look(true)
  t.same(set, [RESTING_REDIS_HZ, REDIS_HZ])
})

t.test('a server that did not accept the setting, or was replaced, gets it again', async (t) => {
  let isTaken = false
  const { rest, set, look } = open(() => isTaken)
  await look(false, MANY_LOOKS)
  t.ok(set.length > 1)
  isTaken = true
  await look(false, 2)
  const { length } = set
  await look(false, MANY_LOOKS)
  t.equal(set.length, length)
  rest.changed()
  await look(false, MANY_LOOKS)
  t.equal(set.length, length + 1)
})

t.test('a server that was disconnected when calls began does not keep the resting setting', async (t) => {
  const { rest, set, look } = open()
  await look(false, MANY_LOOKS)
  rest.changed()
  await look(true, 2)
  t.same(set, [RESTING_REDIS_HZ, REDIS_HZ])
})
