import Type, { type Static } from 'typebox'
import { PREFERENCE_NAMES_MAX } from './model-limits.ts'

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const names = <T extends Type.TSchema>(name: T) =>
  nullable(Type.Array(name, { maxItems: PREFERENCE_NAMES_MAX }))
const Slugs = names(Type.String({ minLength: 1 }))
const PRICE_WORDS = 'a number of at least 0, or a decimal string such as "0.02"'
const price = (description: string) =>
  Type.Optional(
    Type.Union(
      [
        Type.String({ pattern: '^\\d+(\\.\\d+)?$', title: PRICE_WORDS }),
        Type.Number({ minimum: 0, title: PRICE_WORDS }),
      ],
      { description },
    ),
  )
/** Unknown members are refused: a misspelled preference would otherwise be ignored silently. */
const CLOSED = { additionalProperties: false } as const
const SortBy = Type.Union([
  Type.Literal('price'),
  Type.Literal('throughput'),
  Type.Literal('latency'),
  Type.Literal('exacto'),
])
const Percentiles = Type.Object(
  {
    p50: Type.Optional(nullable(Type.Number())),
    p75: Type.Optional(nullable(Type.Number())),
    p90: Type.Optional(nullable(Type.Number())),
    p99: Type.Optional(nullable(Type.Number())),
  },
  CLOSED,
)

export const QUANTIZATIONS = [
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
] as const

/** Provider routing preferences. B1.12; the only request object in which unknown keys are refused. */
export const ProviderPreferences = Type.Object(
  {
    allow_fallbacks: Type.Optional(nullable(Type.Boolean())),
    require_parameters: Type.Optional(nullable(Type.Boolean())),
    data_collection: Type.Optional(nullable(Type.Union([Type.Literal('allow'), Type.Literal('deny')]))),
    zdr: Type.Optional(nullable(Type.Boolean())),
    enforce_distillable_text: Type.Optional(nullable(Type.Boolean())),
    order: Type.Optional(Slugs),
    only: Type.Optional(Slugs),
    ignore: Type.Optional(Slugs),
    quantizations: Type.Optional(names(Type.Enum(QUANTIZATIONS))),
    sort: Type.Optional(
      nullable(
        Type.Union([
          SortBy,
          Type.Object(
            {
              by: Type.Optional(nullable(SortBy)),
              partition: Type.Optional(nullable(Type.Union([Type.Literal('model'), Type.Literal('none')]))),
            },
            CLOSED,
          ),
        ]),
      ),
    ),
    max_price: Type.Optional(
      Type.Object(
        {
          prompt: price('USD per million tokens.'),
          completion: price('USD per million tokens.'),
          image: price('USD per image.'),
          audio: price('USD per audio input.'),
          request: price('USD per request.'),
        },
        CLOSED,
      ),
    ),
    preferred_max_latency: Type.Optional(nullable(Type.Union([Type.Number(), Percentiles]))),
    preferred_min_throughput: Type.Optional(nullable(Type.Union([Type.Number(), Percentiles]))),
  },
  CLOSED,
)
export type ProviderPreferences = Static<typeof ProviderPreferences>
