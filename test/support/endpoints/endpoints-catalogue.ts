/** Shipped models, and providers of each protocol, with and without the keys that they name. */

/** @param keyed origin of the provider at a host that secrets can be bound to */
export function endpointsCatalogue(origin: string, keyed: string): object {
  return { providers: providersAt(origin, keyed), models: MODELS }
}

function providersAt(origin: string, keyed: string): readonly object[] {
  return [
    {
      slug: 'shipped',
      name: 'Shipped',
      protocol: 'openai',
      base_url: `${origin}/v1`,
      api_key_env: 'SET_KEY',
    },
    { slug: 'keyed', name: 'Keyed', protocol: 'openai', base_url: `${keyed}/v1`, api_key_env: 'SET_KEY' },
    {
      slug: 'no-key',
      name: 'No Key',
      protocol: 'openai',
      base_url: `${keyed}/v1`,
      api_key_env: 'UNSET_KEY',
    },
    {
      slug: 'azure',
      name: 'Azure',
      protocol: 'openai',
      base_url: `${keyed}/v1`,
      headers: { 'api-key': { env: 'UNSET_KEY' } },
    },
    {
      slug: 'cohere',
      name: 'Cohere',
      protocol: 'cohere',
      base_url: `${origin}/v2`,
      api_key_env: 'SET_KEY',
    },
    {
      slug: 'google',
      name: 'Google',
      protocol: 'google',
      base_url: `${origin}/v1beta`,
      api_key_env: 'SET_KEY',
    },
  ]
}

const TO_VECTORS = { output_modalities: ['embeddings'] }
const ENDPOINT = { provider: 'shipped', upstream_model: 'shipped-embed', pricing: { prompt: '0.0000005' } }

const MODELS: readonly object[] = [
  {
    id: 'acme/embed',
    name: 'Acme Embed',
    canonical_slug: 'acme/embed-1',
    architecture: TO_VECTORS,
    endpoints: [ENDPOINT],
  },
  {
    id: 'acme/keyed',
    name: 'Keyed',
    architecture: TO_VECTORS,
    variants: ['floor'],
    endpoints: [{ ...ENDPOINT, provider: 'keyed' }, ENDPOINT],
  },
  {
    id: 'acme/no-key',
    name: 'No Key',
    architecture: TO_VECTORS,
    endpoints: [{ ...ENDPOINT, provider: 'no-key' }],
  },
  {
    id: 'acme/azure',
    name: 'Azure',
    architecture: TO_VECTORS,
    endpoints: [{ ...ENDPOINT, provider: 'azure' }],
  },
  {
    id: 'acme/chat',
    name: 'Acme Chat',
    architecture: { output_modalities: ['text'] },
    endpoints: [ENDPOINT],
  },
]
