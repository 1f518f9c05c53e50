/** Which models a key may use. */
import t from 'tap'
import { isModelAllowed } from '../../src/schemas/keys/permissions.ts'

t.test('without a list a key may use every model, and with an empty list none', async (t) => {
  t.equal(isModelAllowed(null, 'acme/embed'), true)
  t.equal(isModelAllowed([], 'acme/embed'), false)
})

t.test('an entry allows a model with its variants, or all models of an author, in any case', async (t) => {
  for (const id of ['acme/embed', 'ACME/Embed', 'acme/embed:floor'])
    t.equal(isModelAllowed(['Acme/embed'], id), true, id)
  for (const id of ['acme/embed-2', 'acme/e', 'other/embed'])
    t.equal(isModelAllowed(['acme/embed'], id), false, id)
  t.equal(isModelAllowed(['other/x', 'acme/*'], 'acme/embed:nitro'), true)
  t.equal(isModelAllowed(['acme/*'], 'acme-labs/embed'), false)
})

t.test('a model without an author is allowed only by its own name', async (t) => {
  t.equal(isModelAllowed(['embed'], 'embed'), true)
  t.equal(isModelAllowed(['*'], 'embed'), false)
})
