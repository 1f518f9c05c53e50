import Type, { type Static } from 'typebox'

/** Observability metadata of a request: known keys become span attributes, others pass through. */
export const Trace = Type.Object(
  {
    trace_id: Type.Optional(Type.String()),
    trace_name: Type.Optional(Type.String()),
    span_name: Type.Optional(Type.String()),
    generation_name: Type.Optional(Type.String()),
    parent_span_id: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
)
export type Trace = Static<typeof Trace>
