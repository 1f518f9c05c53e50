import { program } from './forms-usage.ts'
import { short } from '../../short.ts'

await short('forms-usage', program)
