import { program } from './limits.ts'
import { short } from '../short.ts'

await short('limits', program)
