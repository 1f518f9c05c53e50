/**
 * Gateways that a call has passed. A value that is no count was not written by a Sluice and counts as 0.
 */
export function hopsOf({
  headers,
}: {
  readonly headers: { readonly 'x-sluice-hops'?: string | undefined }
}): number {
  const text = headers['x-sluice-hops']
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : 0
}
