import Type from 'typebox'

/** For lists that continue by `offset`. Sluice's extension to `total_count`. */
export const HasMore = Type.Boolean({
  description:
    'True when another page follows, at `offset` plus the number of items on this page. A page of large items may contain fewer items than `limit`.',
})
