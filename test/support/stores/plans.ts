/** How Postgres carried out a statement: the output of `EXPLAIN (ANALYZE, FORMAT JSON)`. */

export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

export interface ReportedPlan {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[]
}

/** Every node of a plan, the outermost first. */
export function nodesOf([reported]: readonly ReportedPlan[]): readonly PlanNode[] {
  const below = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(below)]
  return (reported?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => below(Plan))
}

/** Those that a node looked at, whether or not they were what it looked for. */
export function rowsRead(node: PlanNode): number {
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
}
