import t from 'tap'
import { storedFile } from '../../../support/files/files.ts'
import { openFilesFront } from '../../../support/files/files-front.ts'
import { MANAGEMENT_KEY } from '../../../support/front.ts'

const CALLS = [
  ['GET', ''],
  ['GET', '/content'],
  ['DELETE', ''],
] as const

t.test(
  'an id of another workspace and an unknown id get the same 404, apart from the request id',
  async (t) => {
    const front = await openFilesFront(t)
    const foreign = await storedFile(front.files, front.otherWorkspaceId, { isDownloadable: true })
    const unknown = `${foreign.slice(0, -1)}${foreign.endsWith('0') ? '1' : '0'}`
    for (const [method, rest] of CALLS) {
      const bodies = await Promise.all(
        [foreign, unknown].map(async (id) => {
          const answer = await front.call(`/files/${id}${rest}`, {
            method,
            headers: { 'x-request-id': 'the-same' },
          })
          return `${answer.status} ${await answer.text()}`
        }),
      )
      t.match(bodies[0], /^404 /, `${method} ${rest}`)
      t.equal(bodies[0], bodies[1], `${method} ${rest}`)
    }
    t.equal(
      (await front.files.get(front.otherWorkspaceId, foreign)).ok,
      true,
      'the foreign file is still there',
    )
  },
)

t.test('a management key gets 403 on every operation of a file, known or not', async (t) => {
  const front = await openFilesFront(t)
  const known = await storedFile(front.files, front.workspaceId)
  for (const id of [known, 'file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0']) {
    for (const [method, rest] of CALLS) {
      const answer = await front.call(`/files/${id}${rest}`, {
        method,
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      })
      t.equal(answer.status, 403, `${method} ${id}${rest}`)
    }
  }
})
