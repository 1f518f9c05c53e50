import type { Context, Span } from '@opentelemetry/api'
import type { Trace } from '../../schemas/trace.ts'
import type { CallNotes, CallSettled } from '../ports/observe.ts'

export interface CallTracer {
  /**
   * Keeps the trace object of a call until the call settles.
   * @param notes the notes of the call are its identity, since a caller may choose its request id
   */
  remember(notes: CallNotes, trace: Trace): void
  settled(call: CallSettled): void
  /** Sends the remaining spans, within a time limit. */
  close(): Promise<void>
}

export interface TracingOptions {
  /** Base of an OTLP receiver over HTTP, or its `/v1/traces`. */
  readonly endpoint: string
  readonly version: string
  readonly epochNow?: () => number
}

/** Most spans that may wait for the exporter. Decision. */
const QUEUE_MAX = 4_096
/** Known keys of the trace object; each becomes an attribute of the same name. */
const TRACE_KEYS = ['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'] as const
/** Milliseconds of one export with its retries. Decision. */
const EXPORT_MS_MAX = 3_000
/** Milliseconds that closing waits for the receiver; a drain must not spend its time on spans. */
const CLOSE_MS_MAX = 2_000
/** Most characters of an attribute whose value a caller chose. */
const ATTRIBUTE_CHARS_MAX = 256
/** The `traceparent` header of W3C Trace Context: trace id, span id, flags. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Loads the OpenTelemetry SDK and opens the exporter. An installation without an endpoint never loads the SDK. Design §11. */
export async function openTracing({
  endpoint,
  version,
  epochNow = Date.now,
}: TracingOptions): Promise<CallTracer> {
  const [api, { OTLPTraceExporter }, { resourceFromAttributes }, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-node'),
  ])
  const url = endpoint.endsWith('/v1/traces') ? endpoint : `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'sluice', 'service.version': version }),
    spanProcessors: [
      new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS_MAX }), {
        maxQueueSize: QUEUE_MAX,
      }),
    ],
  })
  const tracer = provider.getTracer('sluice', version)
  // A trace is freed together with the notes of its call, so that the map needs no bound.
  const remembered = new WeakMap<CallNotes, Trace>()
  const parentOf = (traceparent: string | undefined): Context => {
    const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
    if (traceId === undefined || spanId === undefined || flags === undefined) return api.ROOT_CONTEXT
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: Number.parseInt(flags, 16),
      isRemote: true,
    })
  }
  return {
    remember(notes, trace) {
      remembered.set(notes, trace)
    },
    settled(call) {
      const endTime = epochNow()
      const options = { kind: api.SpanKind.SERVER, startTime: endTime - call.durationMs }
      const span = tracer.startSpan(call.operation, options, parentOf(call.traceparent))
      describe(span, call, remembered.get(call.notes))
      if (call.failure !== null) span.setStatus({ code: api.SpanStatusCode.ERROR, message: call.failure })
      span.end(endTime)
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS_MAX).unref())
      await Promise.race([provider.shutdown().catch(() => undefined), late])
    },
  }
}

function describe(
  span: Span,
  { requestId, status, workspaceId, notes }: CallSettled,
  trace: Trace | undefined,
): void {
  span.setAttributes({ 'http.response.status_code': status, 'sluice.request_id': requestId })
  if (workspaceId !== null) span.setAttribute('sluice.workspace_id', workspaceId)
  if (notes.sessionId !== undefined) span.setAttribute('session.id', notes.sessionId)
  if (notes.model !== undefined) span.setAttribute('gen_ai.request.model', notes.model)
  if (notes.provider !== undefined) span.setAttribute('gen_ai.provider.name', notes.provider)
  if (notes.promptTokens !== undefined) span.setAttribute('gen_ai.usage.input_tokens', notes.promptTokens)
  if (notes.upstreamMs !== undefined) span.setAttribute('sluice.upstream_ms', notes.upstreamMs)
  for (const key of TRACE_KEYS) {
    const value = trace?.[key]
    if (value !== undefined) span.setAttribute(`trace.${key}`, value.slice(0, ATTRIBUTE_CHARS_MAX))
  }
}
