import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openOutlet } from '../../../src/server/observe/log.ts'

t.test(
  'lines wait when the disk is full, and logging continues when there is space',
  { skip: process.platform !== 'linux' && 'needs /dev/full' },
  async (t) => {
    const file = join(t.testdir(), 'log')
    const full = openSync('/dev/full', 'w')
    const outlet = openOutlet(full)
    outlet.write('first\n')
    // The turn in which it is tried.
    await new Promise((resolve) => setImmediate(resolve))
    closeSync(full)
    // The lowest descriptor that is free: the same.
    const roomy = openSync(file, 'w')
    t.equal(roomy, full)
    outlet.write('second\n')
    outlet.flush()
    closeSync(roomy)
    t.same([readFileSync(file, 'utf8'), outlet.dropped], ['first\nsecond\n', 0])
  },
)
