import Type, { type Static } from 'typebox'

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const Slugs = nullable(Type.Array(Type.String({ minLength: 1 })))
const Price = Type.Union([Type.String({ pattern: '^\\d+(\\.\\d+)?$' }), Type.Number({ minimum: 0 })])
const SortBy = Type.Union([
  Type.Literal('price'), Type.Literal('throughput'), Type.Literal('latency'), Type.Literal('exacto'),
])
const Percentiles = Type.Object({
  p50: Type.Optional(nullable(Type.Number())),
  p75: Type.Optional(nullable(Type.Number())),
  p90: Type.Optional(nullable(Type.Number())),
  p99: Type.Optional(nullable(Type.Number())),
})

export const QUANTIZATIONS = [
  'int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown',
] as const

/** Provider routing preferences. B1.12; the one request object whose unknown keys are refused (C25). */
export const ProviderPreferences = Type.Object({
  allow_fallbacks: Type.Optional(nullable(Type.Boolean())),
  require_parameters: Type.Optional(nullable(Type.Boolean())),
  data_collection: Type.Optional(nullable(Type.Union([Type.Literal('allow'), Type.Literal('deny')]))),
  zdr: Type.Optional(nullable(Type.Boolean())),
  enforce_distillable_text: Type.Optional(nullable(Type.Boolean())),
  order: Type.Optional(Slugs),
  only: Type.Optional(Slugs),
  ignore: Type.Optional(Slugs),
  quantizations: Type.Optional(nullable(Type.Array(Type.Enum(QUANTIZATIONS)))),
  sort: Type.Optional(nullable(Type.Union([
    SortBy,
    Type.Object({
      by: Type.Optional(nullable(SortBy)),
      partition: Type.Optional(nullable(Type.Union([Type.Literal('model'), Type.Literal('none')]))),
    }),
  ]))),
  max_price: Type.Optional(Type.Object({
    prompt: Type.Optional(Price),
    completion: Type.Optional(Price),
    image: Type.Optional(Price),
    audio: Type.Optional(Price),
    request: Type.Optional(Price),
  })),
  preferred_max_latency: Type.Optional(nullable(Type.Union([Type.Number(), Percentiles]))),
  preferred_min_throughput: Type.Optional(nullable(Type.Union([Type.Number(), Percentiles]))),
}, { additionalProperties: false })
export type ProviderPreferences = Static<typeof ProviderPreferences>
