import Type, { type Static } from 'typebox'

/** Calls by which a provider's model is tried. */
export const TRIAL_KINDS = ['chat', 'embeddings'] as const

const StartProvider = Type.Object({
  slug: Type.String({ description: 'Slug of the catalogue; `local`: the models that are built in.' }),
  name: Type.String({ description: 'The name for people.' }),
  variables: Type.Array(Type.String(), {
    description:
      "Environment variables of the node that hold the operator's key for it; empty: it needs none.",
  }),
  is_set: Type.Boolean({ description: 'Whether the node that answers has all of them.' }),
  misplaced: Type.Array(Type.String(), {
    description: 'Those that hold a key of Sluice, which the provider does not know; they count as not set.',
  }),
  secret: Type.Union(
    [
      Type.Object({
        name: Type.String({ description: "Of the secret that holds a workspace's own key." }),
        host: Type.String({ description: 'The host that the secret is bound to.' }),
      }),
      Type.Null(),
    ],
    { description: 'Null: workspaces can have no keys of their own for it.' },
  ),
  model: Type.Union(
    [
      Type.Object({
        id: Type.String({ description: 'Id of the model.' }),
        kind: Type.Enum([...TRIAL_KINDS], { description: 'The operation that calls it.' }),
      }),
      Type.Null(),
    ],
    {
      description: 'One of its models to try; null: it serves none that writes or embeds.',
    },
  ),
})
export type StartProvider = Static<typeof StartProvider>

/** GET /admin/start. */
export const StartAnswer = Type.Object({
  data: Type.Object({
    api_url: Type.String({ description: 'Where programs call the API.' }),
    has_called: Type.Boolean({
      description: 'Whether a call of a model was paid for, if with nothing, within a year.',
    }),
    providers: Type.Array(StartProvider, { description: 'In the order of the catalogue.' }),
  }),
})
export type StartAnswer = Static<typeof StartAnswer>
