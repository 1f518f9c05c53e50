import { program } from './spend-limits.ts'
import { short } from '../short.ts'

await short('spend-limits', program)
