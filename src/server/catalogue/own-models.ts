/** A workspace's own models in lists and reads, in addition to those of the catalogue. */
import type { Pricing } from '../../schemas/models/models.ts'
import type { ResolvedModel, OwnListing, OwnModel } from '../ports/models/models.ts'
import { FREE, RenderedBodies, render, renderZdr, type BuiltModel } from './build.ts'
import type { ModelEntry } from './format.ts'
import { merged, select, selectable } from './select.ts'
import { wireEndpoints, wireModel, type Offer, type Shown } from './wire.ts'

/** @param now milliseconds, as `Date.now` */
export function listOwn(models: readonly OwnModel[], now: () => number): OwnListing {
  const alone = models.filter(({ known }) => known === null).map(built)
  const own = selectable(alone)
  const byId = new Map([
    ...alone.map(({ model }) => [model.id.toLowerCase(), model] as const),
    ...models.flatMap((one) =>
      one.known === null ? [] : [[one.known.id.toLowerCase(), joined(one, one.known)] as const],
    ),
  ])
  // Merged lists, which may contain thousands of models, are cached by the catalogue's selection.
  const lists = new WeakMap<readonly ResolvedModel[], readonly ResolvedModel[]>()
  const zdrLists = new WeakMap<readonly ResolvedModel[], readonly ResolvedModel[]>()
  return {
    resolve: (id) => byId.get(id.toLowerCase()) ?? null,
    among(found, filter) {
      const known = lists.get(found)
      if (known !== undefined) return known
      const ours = select(own, filter, now())
      const list = ours.length === 0 ? found : merged(ours, found, filter.sort)
      lists.set(found, list)
      return list
    },
    withoutRetention(found) {
      const known = zdrLists.get(found)
      if (known !== undefined) return known
      const ours = [...byId.values()].filter(({ bodies }) => bodies.zdr !== null)
      const ids = new Set(ours.map(({ id }) => id))
      const list = ours.length === 0 ? found : [...ours, ...found.filter(({ id }) => !ids.has(id))]
      zdrLists.set(found, list)
      return list
    },
  }
}

/** Members missing in the draft of an endpoint have the same defaults as in a catalogue. */
function built(own: OwnModel): BuiltModel {
  const { slug, callable } = own
  const entry = entryOf(own)
  const shown = shownOf(own, entry)
  const wire = wireModel(shown)
  const model: ResolvedModel = {
    ...callable,
    id: slug,
    canonicalSlug: slug,
    contextLength: null,
    inputModalities: wire.architecture.input_modalities,
    wire,
    bodies: new RenderedBodies(wire, {
      endpoints: () => render(wireEndpoints(shown)),
      zdr: () => renderZdr(shown),
      video: () => null,
    }),
  }
  return { entry, model, bySuffix: new Map([['', model]]) }
}

/** The catalogue's model, with the workspace's endpoints before those of the catalogue. */
function joined(own: OwnModel, known: ResolvedModel): ResolvedModel {
  const shown = (): Shown => shownOf(own, { ...entryOf(own), id: known.id, name: known.wire.name })
  const endpoints = (): Uint8Array => {
    const theirs = parsed(known.bodies.endpoints)
    const ours = parsed(render(wireEndpoints(shown())))
    return render({
      data: { ...theirs.data, endpoints: [...ours.data.endpoints, ...theirs.data.endpoints] },
    })
  }
  const zdr = (): Uint8Array | null => {
    const [ours, theirs] = [renderZdr(shown()), known.bodies.zdr]
    return ours === null || theirs === null ? (ours ?? theirs) : Buffer.concat([ours, COMMA, theirs])
  }
  const video = (): Uint8Array | null => known.bodies.video
  return { ...known, bodies: new RenderedBodies(known.wire, { endpoints, zdr, video }) }
}

const COMMA = Buffer.from(',')

interface EndpointsBody {
  readonly data: { readonly endpoints: readonly unknown[] }
}

function parsed(body: Uint8Array): EndpointsBody {
  return JSON.parse(Buffer.from(body).toString()) as EndpointsBody
}

const MS_IN_S = 1_000

function entryOf({ slug, createdAt, callable, endpoints }: OwnModel): ModelEntry {
  const { isWriter, isEmbedding } = callable
  return {
    id: slug,
    name: slug,
    created: Math.floor(createdAt.getTime() / MS_IN_S),
    architecture: {
      input_modalities: ['text'],
      output_modalities: [...(isWriter ? ['text'] : []), ...(isEmbedding ? ['embeddings'] : [])],
    },
    endpoints: endpoints.map(({ endpoint, region }) => ({
      provider: endpoint.provider.slug,
      upstream_model: endpoint.upstreamModel,
      ...(region !== null && { regions: [region] }),
      ...(endpoint.isZdr !== null && { zdr: endpoint.isZdr }),
    })),
  }
}

function shownOf(own: OwnModel, entry: ModelEntry): Shown {
  const offers = own.endpoints.map(({ endpoint, pricing }, nth): Offer => {
    const { tag, provider } = endpoint
    const shownPricing: Pricing = { ...FREE, ...pricing }
    const one = entry.endpoints?.[nth] ?? { provider: provider.slug, upstream_model: endpoint.upstreamModel }
    return {
      entry: one,
      provider,
      pricing: shownPricing,
      modifiers: [],
      isFree: pricing === null,
      isUnpriced: false,
      tag,
    }
  })
  return { id: entry.id, entry, pricing: offers[0]?.pricing ?? FREE, offers }
}
