import { short } from '../../short.ts'
import { program } from './forms-table.ts'

await short('forms-table', program)
