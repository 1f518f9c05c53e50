import Type from 'typebox'

/** For lists that continue by `offset`. Sluice's extension beside `total_count`. */
export const HasMore = Type.Boolean({
  description:
    'The next page begins at `offset` plus the number of items of this one. A page of large items ends early, before `limit`.',
})
