/** Cohere's names for the use of the vectors (`input_type`). */

const COHERE: ReadonlyMap<string, string> = new Map([
  ['query', 'search_query'],
  ['document', 'search_document'],
  ['passage', 'search_document'],
])

const GOOGLE: ReadonlyMap<string, string> = new Map([
  ['search_query', 'RETRIEVAL_QUERY'],
  ['query', 'RETRIEVAL_QUERY'],
  ['retrieval_query', 'RETRIEVAL_QUERY'],
  ['search_document', 'RETRIEVAL_DOCUMENT'],
  ['document', 'RETRIEVAL_DOCUMENT'],
  ['passage', 'RETRIEVAL_DOCUMENT'],
  ['retrieval_document', 'RETRIEVAL_DOCUMENT'],
  ['semantic_similarity', 'SEMANTIC_SIMILARITY'],
  ['classification', 'CLASSIFICATION'],
  ['clustering', 'CLUSTERING'],
  ['question_answering', 'QUESTION_ANSWERING'],
  ['fact_verification', 'FACT_VERIFICATION'],
  ['code_retrieval_query', 'CODE_RETRIEVAL_QUERY'],
])

/** Values that are not in the table are passed on; Cohere accepts or refuses them. */
export function cohereInputType(inputType: string): string {
  return COHERE.get(inputType) ?? inputType
}

/** Undefined: Gemini has no such task, so the hint is omitted. */
export function googleTask(inputType: string): string | undefined {
  return GOOGLE.get(inputType.toLowerCase())
}
