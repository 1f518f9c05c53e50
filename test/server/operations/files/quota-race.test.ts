import t, { type Test } from 'tap'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { text } from '../../../support/files/sessions.ts'

t.setTimeout(600_000)

const FILE_BYTES = 50_000
const [FITTING, RACING] = [10, 50]

async function full(t: Test): Promise<FilesFront> {
  // Racers wait for each other to settle, so that the slack of a form does not decide which uploads fit.
  return openFilesFront(t, { files: { quotaBytes: FITTING * FILE_BYTES, quotaWaitMs: 300_000 } })
}

function upload(front: FilesFront, sizeBytes: number, name = 'a.txt'): Promise<Response> {
  const form = new FormData()
  form.append('file', new Blob([text(sizeBytes)]), name)
  return front.call('/files', { method: 'POST', body: form })
}

t.test('files.upload 403: with room for 10 of 50 racing uploads exactly 10 are stored', async (t) => {
  const front = await full(t)
  const answers = await Promise.all(
    Array.from({ length: RACING }, (_, nth) => upload(front, FILE_BYTES, `${nth}.txt`)),
  )
  const statuses = answers.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 200).length, FITTING)
  t.equal(statuses.filter((status) => status === 403).length, RACING - FITTING)
  t.same(await front.census(), {
    ready: FITTING,
    pending: 0,
    abandoned: 0,
    objects: FITTING,
    reservedBytes: 0,
    usedBytes: FITTING * FILE_BYTES,
  })
  for (const answer of answers.filter(({ status }) => status === 403)) {
    t.match(await answer.json(), {
      error: { code: 403, metadata: { error_type: 'quota_exceeded', limit_source: 'workspace_storage' } },
    })
  }
})

t.test('a deleted file frees exactly the bytes that it used, and they can be used again', async (t) => {
  const front = await full(t)
  const ids: string[] = []
  for (let nth = 0; nth < FITTING; nth++)
    ids.push(((await (await upload(front, FILE_BYTES)).json()) as { id: string }).id)
  t.equal((await upload(front, 1)).status, 403)
  for (const [nth, id] of ids.entries()) {
    t.equal((await front.call(`/files/${id}`, { method: 'DELETE' })).status, 200)
    t.match(await front.census(), { usedBytes: (FITTING - nth - 1) * FILE_BYTES, reservedBytes: 0 })
  }
  t.equal((await upload(front, FITTING * FILE_BYTES)).status, 200)
  t.match(await front.census(), { ready: 1, objects: 1, usedBytes: FITTING * FILE_BYTES })
})

t.test('racing deletions of one file free its bytes once', async (t) => {
  const front = await full(t)
  const { id } = (await (await upload(front, FILE_BYTES)).json()) as { id: string }
  await upload(front, FILE_BYTES)
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => front.call(`/files/${id}`, { method: 'DELETE' })),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  t.match(await front.census(), { ready: 1, usedBytes: FILE_BYTES, objects: 1 })
})
